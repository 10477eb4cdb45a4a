internal import Foundation

/// A duration in readable form: `41 µs`, `5.74 ms`.
package struct ElapsedTime: Sendable, Hashable, CustomStringConvertible {
    package var nanoseconds: Int64

    private static let units: [(name: String, nanoseconds: Double)] = [
        ("d", 86_400e9), ("h", 3600e9), ("m", 60e9), ("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1),
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
            value * scale.nanoseconds < 3.2e18
        else { return nil }
        nanoseconds = Int64((value * scale.nanoseconds).rounded())
    }

    package static func text(_ nanoseconds: UInt64) -> String {
        ElapsedTime(nanoseconds: Int64(clamping: nanoseconds)).description
    }

    /// For a column of numbers: `5.00 ms`; a dash for nil.
    package static func cell(_ nanoseconds: UInt64?) -> String {
        guard let nanoseconds else { return Quantity.none }
        let (number, unit) = ElapsedTime(nanoseconds: Int64(clamping: nanoseconds)).rounded
        return "\(number) \(unit)"
    }

    /// Three significant digits, or all digits before the decimal point, in seconds or a smaller unit.
    package var description: String {
        var (number, unit) = rounded
        while number.contains("."), number.last == "0" { number.removeLast() }
        if number.last == "." { number.removeLast() }
        return "\(number) \(unit)"
    }

    private var rounded: (number: String, unit: String) {
        let (value, unit) = scaled
        let decimals = unit.nanoseconds == 1 || abs(value) >= 99.95 ? 0 : abs(value) < 9.995 ? 2 : 1
        let magnitude = Int64(clamping: nanoseconds.magnitude)
        let number = Self.decimal(magnitude, per: Int64(unit.nanoseconds), decimals: decimals)
        return (nanoseconds < 0 ? "-\(number)" : number, unit.name)
    }

    /// All digits, as on a command line.
    package static func exact(_ nanoseconds: Int64) -> String {
        let (value, unit) = ElapsedTime(nanoseconds: nanoseconds).scaled
        let number = "\(value)"
        return (number.hasSuffix(".0") ? String(number.dropLast(2)) : number) + (unit.name == "µs" ? "us" : unit.name)
    }

    /// The next larger unit begins where rounding would give a digit more: 999.6 µs is 1 ms.
    private var scaled: (value: Double, unit: (name: String, nanoseconds: Double)) {
        let value = Double(nanoseconds)
        let unit = Self.units.dropFirst(3).first { abs(value) >= 0.9995 * $0.nanoseconds } ?? ("ns", 1)
        return (value / unit.nanoseconds, unit)
    }

    /// `value / unit`, rounded to a number of decimals.
    static func decimal(_ value: Int64, per unit: Int64, decimals: Int) -> String {
        let step = max(1, unit / (0..<decimals).reduce(1) { power, _ in power * 10 })
        let digits = String(value / step + (step > 1 && value % step * 2 >= step ? 1 : 0))
        if decimals == 0 { return digits }
        let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return "\(padded.dropLast(decimals)).\(padded.suffix(decimals))"
    }
}
