import XCTest

@testable import ThreadedNotifications

final class TaskWaitStateTests: XCTestCase {
    func testASuspendedTaskIsResumedOnceByTheFirstEnd() {
        var state = TaskWaitState<String, Int>()
        XCTAssertNil(state.suspend(1))
        XCTAssertEqual(state.end("happened"), 1)
        XCTAssertNil(state.end("timed out"))
    }

    func testATaskThatSuspendsAfterTheEndContinuesWithTheFirstOutcome() {
        var state = TaskWaitState<String, Int>()
        XCTAssertNil(state.end("cancelled"))
        XCTAssertNil(state.end("happened"))
        XCTAssertEqual(state.suspend(1), "cancelled")
        XCTAssertNil(state.end("timed out"))
    }
}
