internal import Foundation

/// Dates as text, such as `2016-02-13T22:05:12Z`, in the Gregorian calendar for all years.
///
/// Foundation's formatters are slower, and their result depends on the version.
enum PropertyListDate {
    /// To the millisecond; a fraction of 0 is left out. A date that a property list may not contain is shown as
    /// seconds.
    static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard Wire.dates.contains(seconds) else { return "\(seconds) seconds after 2001" }
        let milliseconds = Int((seconds * 1000).rounded(.down))
        let (day, ofDay) = divide(milliseconds, by: 86_400_000)
        let (year, month, dayOfMonth) = civil(day: day + daysUntil2001)
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let clock = [ofDay / 3_600_000, ofDay / 60_000 % 60, ofDay / 1000 % 60].map { digits($0, 2) }
        let fraction = ofDay % 1000 == 0 ? "" : ".\(digits(ofDay % 1000, 3))"
        return
            "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfMonth, 2))T\(clock.joined(separator: ":"))\(fraction)Z"
    }

    private static let daysUntil2001 = 11_323

    private static func divide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// The date of a day since 1970. Years begin in March here, so that a leap day is the last day of its year; 400
    /// years have 146,097 days.
    private static func civil(day: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = divide(day + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }
}
