internal import Foundation

/// Formats numbers in at most seven characters; a dash for nil.
package enum Quantity {
    package static let none = "–"

    package static func count(_ count: Int?) -> String {
        switch count {
        case nil: none
        case let count? where count < 1_000_000: "\(count)"
        case let count? where count < 999_500_000: "\(digits(Double(count) / 1e6)) M"
        case let count?: "\(digits(Double(count) / 1e9)) G"
        }
    }

    /// A number of records; a dash for 0, so that other numbers stand out.
    package static func recorded(_ count: Int) -> String { self.count(count == 0 ? nil : count) }

    /// All digits of a number of records; a dash for 0.
    package static func exact(_ count: Int) -> String { count == 0 ? none : "\(count)" }

    /// Three digits, or more if the integer part has more.
    package static func digits(_ number: Double) -> String {
        String(format: number < 9.995 ? "%.2f" : number < 99.95 ? "%.1f" : "%.0f", number)
    }
}
