/// A duration in readable form: `41 µs`, `5.74 ms`.
package struct ElapsedTime: Sendable, Hashable, CustomStringConvertible {
    package var nanoseconds: Int64

    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000), ("µs", 1000), ("ns", 1),
    ]

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package init(_ duration: Duration) {
        nanoseconds = Int64(clamping: duration.nanoseconds)
    }

    package var duration: Duration { .nanoseconds(nanoseconds) }

    /// - Parameter text: a number and a unit, such as `10ms`, `1.5 s` or `2m`; `us` stands for `µs`. Nil if the text
    ///   has another form, or if the duration is negative or longer than a hundred years.
    package init?(_ text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let rest = text.dropFirst(number.count).drop { $0 == " " }
        // Unicode has two letters mu. Keyboards produce U+00B5; Unicode prefers U+03BC.
        let unit = ["us", "\u{3BC}s"].contains(rest) ? "µs" : String(rest)
        guard let scale = Self.units.first(where: { $0.name == unit }), let value = Double(number),
            value * Double(scale.nanoseconds) < 3.2e18
        else { return nil }
        nanoseconds = Int64((value * Double(scale.nanoseconds)).rounded())
    }

    package static func text(_ nanoseconds: UInt64) -> String {
        ElapsedTime(nanoseconds: Int64(clamping: nanoseconds)).description
    }

    /// Three significant digits, or all digits before the decimal point.
    package var description: String { text(keepsZeros: false) }

    /// A duration of at most seven characters for a column of numbers: `5.00 ms`; a dash for nil.
    package static func cell(_ nanoseconds: UInt64?) -> String {
        nanoseconds.map { ElapsedTime(nanoseconds: Int64(clamping: $0)).text(keepsZeros: true) } ?? Quantity.none
    }

    private func text(keepsZeros: Bool) -> String {
        if nanoseconds < 0 {
            return "-" + ElapsedTime(nanoseconds: Int64(clamping: nanoseconds.magnitude)).text(keepsZeros: keepsZeros)
        }
        // The next larger unit begins where rounding would give a digit more: 999.6 µs is 1 ms.
        let (name, unit): (String, Int64) =
            switch nanoseconds {
            case ..<1000: ("ns", 1)
            case ..<999_500: ("µs", 1000)
            case ..<999_500_000: ("ms", 1_000_000)
            case ..<9_999_500_000_000: ("s", 1_000_000_000)
            case ..<86_395_000_000_000: ("h", 3_600_000_000_000)
            default: ("d", 86_400_000_000_000)
            }
        let value = Double(nanoseconds) / Double(unit)
        let decimals = unit == 1 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0
        return "\(Self.decimal(nanoseconds, per: unit, decimals: decimals, keepsZeros: keepsZeros)) \(name)"
    }

    /// All digits; without a space and µ, as on a command line, if it is to be typed.
    package static func exact(_ nanoseconds: Int64, isTyped: Bool = true) -> String {
        let (name, unit, decimals): (String, Int64, Int) =
            switch nanoseconds {
            case ..<1000: ("ns", 1, 0)
            case ..<1_000_000: (isTyped ? "us" : "µs", 1000, 3)
            case ..<1_000_000_000: ("ms", 1_000_000, 6)
            default: ("s", 1_000_000_000, 9)
            }
        let number = decimal(nanoseconds, per: unit, decimals: decimals, keepsZeros: false)
        return number + (isTyped ? "" : " ") + name
    }

    /// `value / unit`, rounded to a number of decimals.
    static func decimal(_ value: Int64, per unit: Int64, decimals: Int, keepsZeros: Bool) -> String {
        let scale = (0..<decimals).reduce(Int64(1)) { scale, _ in scale * 10 }
        let step = max(1, unit / scale)
        let rounded = value / step + (value % step * 2 >= step && step > 1 ? 1 : 0)
        guard decimals > 0 else { return String(rounded) }
        var fraction = String(rounded % scale)
        fraction = String(repeating: "0", count: decimals - fraction.count) + fraction
        if !keepsZeros { while fraction.last == "0" { fraction.removeLast() } }
        return fraction.isEmpty ? String(rounded / scale) : "\(rounded / scale).\(fraction)"
    }
}
