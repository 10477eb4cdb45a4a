internal import Foundation

/// A duration in readable form: `41 µs`, `5.74 ms`.
package struct ElapsedTime: Sendable, Hashable, CustomStringConvertible {
    package var nanoseconds: Int64

    private static let units: [(name: String, nanoseconds: Int64)] = [
        ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000), ("µs", 1000), ("ns", 1),
    ]

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func milliseconds(_ number: Int64) -> ElapsedTime { .init(nanoseconds: number * 1_000_000) }

    package var duration: Duration { .nanoseconds(nanoseconds) }

    /// - Parameter text: a number and a unit, such as `10ms`, `1.5 s` or `2m`; `us` stands for `µs`. Nil if the text
    ///   has another form, or if the duration is negative or longer than a hundred years.
    package init?(_ text: String) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let rest = text.dropFirst(number.count).drop { $0 == " " }
        // Unicode has two letters mu. Keyboards produce U+00B5; Unicode prefers U+03BC.
        let unit = ["us", "\u{3BC}s"].contains(rest) ? "µs" : String(rest)
        guard let scale = Self.units.first(where: { $0.name == unit })?.nanoseconds, let value = Double(number),
            value * Double(scale) < 3.2e18
        else { return nil }
        nanoseconds = Int64((value * Double(scale)).rounded())
    }

    package static func text(_ nanoseconds: UInt64) -> String {
        ElapsedTime(nanoseconds: Int64(clamping: nanoseconds)).description
    }

    /// For a column of a table: `5.00 ms`; a dash for nil.
    package static func cell(_ nanoseconds: UInt64?) -> String {
        let rounded = nanoseconds.map { ElapsedTime(nanoseconds: Int64(clamping: $0)).rounded }
        return rounded.map { "\($0.number) \($0.unit)" } ?? Quantity.none
    }

    /// Three significant digits, or all digits before the decimal point, in seconds or a smaller unit.
    package var description: String {
        var (number, unit) = rounded
        while number.contains("."), let last = number.last, last == "0" || last == "." { number.removeLast() }
        return "\(number) \(unit)"
    }

    private var rounded: (number: String, unit: String) {
        let magnitude = Int64(clamping: nanoseconds.magnitude)
        // The next larger unit begins where rounding would give a digit more: 999.6 µs is 1 ms.
        let unit = Self.units[3...].first { Double(magnitude) >= 0.9995 * Double($0.nanoseconds) } ?? ("ns", 1)
        let value = Double(magnitude) / Double(unit.nanoseconds)
        let decimals = unit.nanoseconds == 1 || value >= 99.95 ? 0 : value < 9.995 ? 2 : 1
        let number = Self.decimal(magnitude, per: unit.nanoseconds, decimals: decimals)
        return (nanoseconds < 0 ? "-\(number)" : number, unit.name)
    }

    /// All digits, as on a command line: `1500ms`.
    package static func exact(_ nanoseconds: Int64) -> String {
        let unit = units[3...].first { nanoseconds % $0.nanoseconds == 0 } ?? ("ns", 1)
        return "\(nanoseconds / unit.nanoseconds)\(unit.name == "µs" ? "us" : unit.name)"
    }

    /// `value / unit`, rounded to a number of decimals. Not negative.
    static func decimal(_ value: Int64, per unit: Int64, decimals: Int) -> String {
        let power = (0..<decimals).reduce(Int64(1)) { power, _ in power * 10 }
        let step = max(1, unit / power)
        let rounded = value / step + (value % step * 2 >= step && step > 1 ? 1 : 0)
        if decimals == 0 { return "\(rounded)" }
        return "\(rounded / power).\(String(rounded % power + power).dropFirst())"
    }
}
