/// A duration in readable form: `41 µs`, `5.74 ms`.
package struct ElapsedTime: Sendable, Hashable, CustomStringConvertible {
    package var nanoseconds: Int64

    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1000), ("ns", 1),
    ]

    /// Minutes are parsed but never printed.
    private static let minute = (name: "m", nanoseconds: Int64(60_000_000_000))

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
        guard let scale = (Self.units + [Self.minute]).first(where: { $0.name == unit }), let value = Double(number),
            value * Double(scale.nanoseconds) < 3.2e18
        else { return nil }
        nanoseconds = Int64((value * Double(scale.nanoseconds)).rounded())
    }

    /// A duration as text.
    static func text(_ nanoseconds: UInt64) -> String {
        ElapsedTime(nanoseconds: Int64(clamping: nanoseconds)).description
    }

    /// Three significant digits, or all digits before the decimal point.
    package var description: String {
        if nanoseconds < 0 { return "-\(ElapsedTime(nanoseconds: Int64(clamping: nanoseconds.magnitude)))" }
        for (index, unit) in Self.units.enumerated() where nanoseconds >= unit.nanoseconds {
            let text = Self.threeDigits(nanoseconds, per: unit.nanoseconds)
            // 999.6 µs rounds to 1 ms.
            if text == "1000", index > 0 { return "1 \(Self.units[index - 1].name)" }
            return "\(text) \(unit.name)"
        }
        return "0 ns"
    }

    /// All digits and no space, as on a command line.
    static func exact(_ nanoseconds: Int64) -> String {
        let unit = units.first { $0.nanoseconds <= max(1, nanoseconds) } ?? ("ns", 1)
        // µ is hard to type.
        let name = unit.name == "µs" ? "us" : unit.name
        let decimals = [1_000_000_000: 9, 1_000_000: 6, 1000: 3][unit.nanoseconds] ?? 0
        return decimal(nanoseconds, per: unit.nanoseconds, decimals: decimals, keepsZeros: false) + name
    }

    private static func threeDigits(_ value: Int64, per unit: Int64) -> String {
        let decimals = value / unit >= 100 ? 0 : value / unit >= 10 ? 1 : 2
        return decimal(value, per: unit, decimals: unit == 1 ? 0 : decimals, keepsZeros: false)
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
