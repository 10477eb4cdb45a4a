import DistributedTesting
import Foundation
import Testing

@testable import DistributedNotifications

@Suite("Dates of property lists")
struct PropertyListDateTests {
    @Test("a date of any year is written as Foundation writes it, and read again")
    func againstFoundation() {
        let formatter = ISO8601DateFormatter()
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            // Foundation's calendar changes in 1582.
            let date = Date(
                timeIntervalSinceReferenceDate: Double(
                    Int.random(in: -13_000_000_000..<252_423_993_600, using: &generator)))
            #expect(PropertyListDate.text(date) == formatter.string(from: date))
            #expect(PropertyListDate.date(Array(PropertyListDate.text(date).utf8)) == date)
        }
        #expect(PropertyListDate.text(.distantPast) == "0000-12-30T00:00:00Z")
        #expect(PropertyListDate.date(Array("0000-12-30T00:00:00Z".utf8)) == .distantPast)
    }

    @Test("every day of 800 years follows the day before")
    func everyDay() {
        var day = Date(timeIntervalSinceReferenceDate: 0)
        var last = ""
        for _ in 0..<(2 * 146_097) {
            let text = PropertyListDate.text(day)
            if text <= last || PropertyListDate.date(Array(text.utf8)) != day { Issue.record("\(last), \(text)") }
            last = text
            day += 86_400
        }
        #expect(last == "2800-12-31T00:00:00Z")
    }

    @Test("milliseconds are shown if there are some, and read")
    func fractions() {
        #expect(PropertyListDate.text(Date(timeIntervalSinceReferenceDate: 0.25)) == "2001-01-01T00:00:00.250Z")
        #expect(PropertyListDate.text(Date(timeIntervalSinceReferenceDate: -0.25)) == "2000-12-31T23:59:59.750Z")
        #expect(
            PropertyListDate.text(Date(timeIntervalSinceReferenceDate: 252_423_993_599.9999))
                == "9999-12-31T23:59:59.999Z")
        #expect(PropertyListDate.date("2001-01-01T00:00:00.25Z".utf8) == Date(timeIntervalSinceReferenceDate: 0.25))
    }

    @Test(
        "what is no date, or written otherwise, is none",
        arguments: [
            "", "2001", "2001-01-01", "2001-01-01T00:00:00", "2001-01-01T00:00:00Z ", "2001-1-01T00:00:00Z",
            "2001-02-29T00:00:00Z", "2001-00-01T00:00:00Z", "2001-13-01T00:00:00Z", "2001-01-00T00:00:00Z",
            "2001-01-01T24:00:00Z", "2001-01-01T00:60:00Z", "2001-01-01T00:00:60Z", "2001-01-01T00:00:00.Z",
            "2001-01-01T00:00:00.0000000000Z", "-001-01-01T00:00:00Z", "0000-12-29T23:59:59Z", "2001-01-01 00:00:00Z",
            "2001-01-01T00:00:00+00:00",
        ])
    func refusals(text: String) {
        #expect(PropertyListDate.date(text.utf8) == nil)
    }
}
