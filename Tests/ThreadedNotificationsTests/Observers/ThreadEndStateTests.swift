import XCTest

@testable import ThreadedNotifications

final class ThreadEndStateTests: XCTestCase {
    private let worker = ThreadEnd(thread: nil, name: "worker")

    func testAnObserverIsToldOnceWhetherItIsAddedBeforeOrAfterTheEnd() {
        var state = ThreadEndState<String, Waiter>()
        XCTAssertNil(state.add("first", id: 1))
        XCTAssertNil(state.add("second", id: 2))
        XCTAssertEqual(state.end(worker).observers, ["first", "second"])
        XCTAssertEqual(state.end(ThreadEnd(thread: nil, name: "other")).observers, [])
        XCTAssertEqual(state.add("third", id: 3), worker)
        XCTAssertEqual(state.end(worker).observers, [])
    }

    func testAWaiterIsWokenOnceUnlessItWasRemovedAndDoesNotWaitAfterTheEnd() {
        var state = ThreadEndState<String, Waiter>()
        let (first, second, third) = (Waiter(), Waiter(), Waiter())
        XCTAssertTrue(state.add(first) && state.add(second))
        state.remove(first)
        XCTAssertEqual(state.end(worker).waiters.map(ObjectIdentifier.init), [ObjectIdentifier(second)])
        XCTAssertFalse(state.add(third))
        XCTAssertTrue(state.end(worker).waiters.isEmpty)
    }

    func testAnObserverThatWasRemovedIsNotTold() {
        var state = ThreadEndState<String, Waiter>()
        _ = state.add("first", id: 1)
        _ = state.add("second", id: 2)
        state.remove(1)
        state.remove(7)
        XCTAssertEqual(state.end(worker).observers, ["second"])
    }
}

private final class Waiter {}
