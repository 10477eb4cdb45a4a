internal import Foundation

/// Dates as property lists and JSON have them: `2016-02-13T22:05:12Z`, with the Gregorian calendar of today in all years.
///
/// Foundation's formatters are not used: they are slow, and what they take depends on the version.
enum PropertyListDate {
    private static let daysUntil2001 = 11_323

    /// To the millisecond, which is left out if it is 0. A date that no property list may have is a number of seconds.
    static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard PropertyListLimits.dates.contains(seconds) else { return "\(seconds) seconds after 2001" }
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

    /// The date that is written exactly so; nil for all else. Seconds may have up to 9 decimals.
    static func date(_ text: some Collection<UInt8>) -> Date? {
        var rest = text[...]
        func number(_ digits: Int, then separator: Unicode.Scalar?) -> Int? {
            var number = 0
            for _ in 0..<digits {
                guard let digit = rest.popFirst(), (0x30...0x39).contains(digit) else { return nil }
                number = number * 10 + Int(digit - 0x30)
            }
            if let separator { guard let next = rest.popFirst(), next == separator.value else { return nil } }
            return number
        }
        guard let year = number(4, then: "-"), let month = number(2, then: "-"), let day = number(2, then: "T"),
            let hour = number(2, then: ":"), let minute = number(2, then: ":"), let second = number(2, then: nil)
        else { return nil }
        var fraction = 0.0
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            let decimals = rest.prefix(while: { (0x30...0x39).contains($0) }).count
            guard (1...9).contains(decimals), let number = number(decimals, then: nil) else { return nil }
            fraction = Double(number) / (0..<decimals).reduce(1.0) { power, _ in power * 10 }
        }
        guard rest.elementsEqual([UInt8(ascii: "Z")]), hour < 24, minute < 60, second < 60, (1...12).contains(month)
        else { return nil }
        let number = days(year: year, month: month, day: day)
        // A day that the month does not have is one of the next.
        guard civil(day: number) == (year, month, day) else { return nil }
        let seconds = (number - daysUntil2001) * 86_400 + hour * 3600 + minute * 60 + second
        let date = Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
        return PropertyListLimits.dates.contains(date.timeIntervalSinceReferenceDate) ? date : nil
    }

    private static func divide(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// Days since 1970. A year begins in March here, so that its last day is the one that may be missing; 400 of them are
    /// 146,097 days.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let (era, yearOfEra) = divide(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(day: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = divide(day + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }
}
