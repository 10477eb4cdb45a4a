/// Times as they are told.
package enum TimeWords {
    /// Such as `850 ns`, `1.5 µs`, `16 ms`, `2.04 s`.
    package static func duration(_ duration: Duration) -> String { self.duration(duration.nanoseconds) }

    static func duration(_ nanoseconds: UInt64) -> String {
        switch nanoseconds {
        case ..<1000: "\(nanoseconds) ns"
        case ..<1_000_000: "\(decimal(nanoseconds, per: 1000)) µs"
        case ..<1_000_000_000: "\(decimal(nanoseconds, per: 1_000_000)) ms"
        default: "\(decimal(nanoseconds, per: 1_000_000_000)) s"
        }
    }

    /// With two decimals, but no zeros at the end.
    private static func decimal(_ value: UInt64, per unit: UInt64) -> String {
        let (whole, rest) = (value / unit, value % unit * 100 / unit)
        guard rest > 0 else { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}
