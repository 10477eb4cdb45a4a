import XCTest

@testable import ThreadedNotifications

final class TaskDrainStateTests: XCTestCase {
    func testOneTaskDrainsAtATimeAndTakesAgainWhatWasAppendedMeanwhile() {
        var state = TaskDrainState()
        XCTAssertTrue(state.signal(), "the first entry starts a task")
        state.begin(7)
        XCTAssertEqual(state.task, 7)
        XCTAssertFalse(state.signal())
        XCTAssertFalse(state.signal())
        XCTAssertTrue(state.finish(), "entries were appended")
        XCTAssertFalse(state.finish(), "none was appended since")
        XCTAssertNil(state.task)
        XCTAssertTrue(state.signal(), "the next entry starts a task")
    }
}
