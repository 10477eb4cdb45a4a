import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class PropertyListDateTests: XCTestCase {
    func testADateOfAnyYearIsWrittenAsFoundationWritesIt() {
        let formatter = ISO8601DateFormatter()
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            // Foundation's calendar changes in 1582.
            let date = Date(
                timeIntervalSinceReferenceDate: Double(
                    Int.random(in: -13_000_000_000..<252_423_993_600, using: &generator)))
            XCTAssertEqual(PropertyListDate.text(date), formatter.string(from: date))
        }
        XCTAssertEqual(PropertyListDate.text(.distantPast), "0000-12-30T00:00:00Z")
    }

    func testEveryDayOf800YearsFollowsTheDayBefore() {
        var day = Date(timeIntervalSinceReferenceDate: 0)
        var last = ""
        for _ in 0..<(2 * 146_097) {
            let text = PropertyListDate.text(day)
            if text <= last { XCTFail("\(last), \(text)") }
            last = text
            day += 86_400
        }
        XCTAssertEqual(last, "2800-12-31T00:00:00Z")
    }

    func testMillisecondsAreShownUnlessTheyAre0() {
        XCTAssertEqual(PropertyListDate.text(Date(timeIntervalSinceReferenceDate: 0.25)), "2001-01-01T00:00:00.250Z")
        XCTAssertEqual(PropertyListDate.text(Date(timeIntervalSinceReferenceDate: -0.25)), "2000-12-31T23:59:59.750Z")
        XCTAssertEqual(
            PropertyListDate.text(Date(timeIntervalSinceReferenceDate: 252_423_993_599.9999)),
            "9999-12-31T23:59:59.999Z")
    }
}
