import XCTest

@testable import ThreadedNotifications

/// Whether passes of the run loop serve the main queue.
final class MainQueueExaminationTests: XCTestCase {
    private var examination = MainQueueExamination()

    /// The marker that the examination asks for in a pass; nil: it asks for nothing.
    private func pass(wasReady: Bool = true) -> Locked<Bool>? {
        switch examination.passed(wasReady: wasReady) {
        case .none: return nil
        case .enqueue(let marker): return marker
        case .ignore:
            XCTFail("ignored")
            return nil
        }
    }

    func testPassesThatEmptyTheMainQueueNeedNoExamination() {
        for _ in 1...10 {
            XCTAssertNil(pass())
            XCTAssertNil(pass())
            XCTAssertNil(pass(wasReady: false))
        }
    }

    func testAMainQueueThatIsNeverEmptyButServedIsNotIgnored() {
        for _ in 1...10 {
            XCTAssertNil(pass())
            XCTAssertNil(pass())
            let marker = pass()
            XCTAssertNil(pass())
            XCTAssertNotNil(marker)
            marker?.withLock { $0 = true }
            XCTAssertNil(pass())
        }
    }

    func testAMainQueueWhoseMarkerIsNotSetIsIgnored() {
        XCTAssertNil(pass())
        XCTAssertNil(pass())
        XCTAssertNotNil(pass())
        XCTAssertNil(pass())
        XCTAssertNil(pass())
        guard case .ignore = examination.passed(wasReady: true) else { return XCTFail("not ignored") }
        XCTAssertNil(pass())
    }
}
