import XCTest

@testable import ThreadedNotifications

final class ThreadEndStateTests: XCTestCase {
    private let worker = ThreadEnd(thread: nil, name: "worker")

    func testAnObserverIsToldOnceWhetherItIsAddedBeforeOrAfterTheEnd() {
        var state = ThreadEndState<String>()
        XCTAssertNil(state.add("first", id: 1))
        XCTAssertNil(state.add("second", id: 2))
        XCTAssertEqual(state.end(worker), ["first", "second"])
        XCTAssertEqual(state.end(ThreadEnd(thread: nil, name: "other")), [])
        XCTAssertEqual(state.add("third", id: 3), worker)
        XCTAssertEqual(state.end(worker), [])
    }

    func testAnObserverThatWasRemovedIsNotTold() {
        var state = ThreadEndState<String>()
        _ = state.add("first", id: 1)
        _ = state.add("second", id: 2)
        state.remove(1)
        state.remove(7)
        XCTAssertEqual(state.end(worker), ["second"])
    }
}
