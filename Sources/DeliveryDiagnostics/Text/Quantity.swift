internal import Foundation

/// Formats quantities in at most seven characters, with a suitable unit; a dash for nil.
package enum Quantity {
    package static let none = "–"

    /// For example `812 ns`, `1.23 µs`, `45.6 ms`, `789 s`, `1.5 d`.
    package static func time(_ nanoseconds: UInt64?) -> String {
        guard let nanoseconds else { return none }
        let value = Double(nanoseconds)
        // The bounds are the values that would round to one more digit.
        return switch nanoseconds {
        case 0..<1_000: "\(nanoseconds) ns"
        case ..<999_500: "\(digits(value / 1e3)) µs"
        case ..<999_500_000: "\(digits(value / 1e6)) ms"
        case ..<9_999_500_000_000: "\(digits(value / 1e9)) s"
        case ..<86_395_000_000_000: "\(digits(value / 3.6e12)) h"
        default: "\(digits(value / 86.4e12)) d"
        }
    }

    package static func count(_ count: Int?) -> String {
        guard let count else { return none }
        return count < 1_000_000 ? "\(count)" : large(Double(count))
    }

    /// A number of records; a dash for 0.
    package static func recorded(_ count: Int) -> String { self.count(count == 0 ? nil : count) }

    /// A mean or a rate.
    package static func number(_ number: Double?) -> String {
        guard let number else { return none }
        return number < 999.5 ? digits(number) : large(number)
    }

    private static func large(_ number: Double) -> String {
        switch number {
        case ..<999_500: "\(digits(number / 1e3)) k"
        case ..<999_500_000: "\(digits(number / 1e6)) M"
        default: "\(digits(number / 1e9)) G"
        }
    }

    /// Three digits, or more if the integer part has more.
    private static func digits(_ number: Double) -> String {
        String(format: number < 9.995 ? "%.2f" : number < 99.95 ? "%.1f" : "%.0f", number)
    }
}
