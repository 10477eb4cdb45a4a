import XCTest

@testable import ThreadedNotifications

final class BurstDetectorTests: XCTestCase {
    func testADrainOfSeveralEntriesBeginsABurstAndSingleOnesInARowEndIt() {
        var detector = BurstDetector()
        detector.drained(moreThanOne: false)
        XCTAssertFalse(detector.isBurst)
        detector.drained(moreThanOne: true)
        for _ in 1..<BurstDetector.singleDrains { detector.drained(moreThanOne: false) }
        XCTAssertTrue(detector.isBurst)
        detector.drained(moreThanOne: false)
        XCTAssertFalse(detector.isBurst)
    }

    func testAnotherDrainOfSeveralEntriesProlongsTheBurst() {
        var detector = BurstDetector()
        detector.drained(moreThanOne: true)
        for _ in 1..<BurstDetector.singleDrains { detector.drained(moreThanOne: false) }
        detector.drained(moreThanOne: true)
        detector.drained(moreThanOne: false)
        XCTAssertTrue(detector.isBurst)
    }
}
