internal import Foundation

/// Formats numbers in at most seven characters; a dash for nil.
package enum Quantity {
    package static let none = "–"

    package static func count(_ count: Int?) -> String {
        guard let count else { return none }
        return count < 1_000_000 ? "\(count)" : number(Double(count))
    }

    /// A number of records; a dash for 0, so that other numbers stand out.
    package static func recorded(_ count: Int) -> String { self.count(count == 0 ? nil : count) }

    /// All digits of a number of records; a dash for 0.
    package static func exact(_ count: Int) -> String { count == 0 ? none : "\(count)" }

    /// A mean or a rate: `0.42`, `45.6`, `1.23 M`.
    package static func number(_ number: Double?) -> String {
        guard let number else { return none }
        let unit = [(1e9, " G"), (1e6, " M"), (1e3, " k")].first { number >= 0.9995 * $0.0 }
        return digits(number / (unit?.0 ?? 1)) + (unit?.1 ?? "")
    }

    /// Three digits, or more if the integer part has more.
    package static func digits(_ number: Double) -> String {
        String(format: number < 9.995 ? "%.2f" : number < 99.95 ? "%.1f" : "%.0f", number)
    }
}
