internal import Foundation

/// A number and its noun: `1 post`, `2 posts`.
///
/// - Parameter plural: the plural, if it is not formed with `s`.
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}

/// Formats the numbers of tables.
package enum Quantity {
    package static let none = "–"

    /// A number of records; a dash for 0, so that other numbers stand out.
    package static func exact(_ count: Int) -> String { count == 0 ? none : "\(count)" }

    /// Three digits, or more if the integer part has more.
    package static func digits(_ number: Double) -> String {
        String(format: number < 9.995 ? "%.2f" : number < 99.95 ? "%.1f" : "%.0f", number)
    }
}
