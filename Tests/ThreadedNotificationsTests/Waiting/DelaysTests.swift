import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class DelaysTests: XCTestCase {
    private let start = SuspendingClock.now

    func testElementsAreTakenInTheOrderOfTheirDeadlinesAndOfInsertionIfDeadlinesAreEqual() {
        var generator = SeededGenerator(seed: 1)
        var delays = Delays<Int>()
        var expected: [(deadline: Int, element: Int)] = []
        for element in 0..<1000 {
            let deadline = Int.random(in: 0..<100, using: &generator)
            _ = delays.insert(element, at: start + .seconds(deadline))
            expected.append((deadline, element))
        }
        expected.sort { ($0.deadline, $0.element) < ($1.deadline, $1.element) }
        XCTAssertEqual(delays.take(at: start + .seconds(100)), expected.map(\.element))
        XCTAssertNil(delays.nextDeadline)
        XCTAssertLessThan(delays.capacity, 200)
    }

    func testOnlyDueElementsThatWereNotRemovedAreTakenAndOnce() {
        var generator = SeededGenerator(seed: 2)
        var delays = Delays<Int>()
        var waiting: [(deadline: Int, element: Int, id: Delays<Int>.ID)] = []
        var now = 0
        for element in 0..<1_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                let deadline = now + Int.random(in: 0..<50, using: &generator)
                let (id, _) = delays.insert(element, at: start + .seconds(deadline))
                waiting.append((deadline, element, id))
            case 5..<9:
                guard let index = waiting.indices.randomElement(using: &generator) else { continue }
                let removed = waiting.remove(at: index)
                XCTAssertEqual(delays.remove(removed.id), removed.element)
                XCTAssertNil(delays.remove(removed.id))
            default:
                now += Int.random(in: 0..<10, using: &generator)
                let due = waiting.filter { $0.deadline <= now }.sorted { ($0.deadline, $0.id) < ($1.deadline, $1.id) }
                waiting.removeAll { $0.deadline <= now }
                XCTAssertEqual(delays.take(at: start + .seconds(now)), due.map(\.element))
            }
        }
    }

    func testAnInsertionReportsWhetherItChangesTheNextDeadline() {
        var delays = Delays<String>()
        XCTAssertTrue(delays.insert("first", at: start + .seconds(2)).isNext)
        XCTAssertFalse(delays.insert("later", at: start + .seconds(2)).isNext)
        XCTAssertTrue(delays.insert("earlier", at: start + .seconds(1)).isNext)
        XCTAssertEqual(delays.nextDeadline, start + .seconds(1))
        XCTAssertEqual(delays.take(at: start + .seconds(1)), ["earlier"])
        XCTAssertEqual(delays.nextDeadline, start + .seconds(2))
    }

    func testMemoryDoesNotGrowWhenElementsAreInsertedAndRemovedOneByOne() {
        var delays = Delays<Int>()
        for element in 0..<2_000 {
            let (id, _) = delays.insert(element, at: start + .seconds(3600))
            XCTAssertEqual(delays.remove(id), element)
            guard delays.capacity < 200 else {
                XCTFail("memory for \(delays.capacity) elements after \(element) insertions")
                return
            }
        }
    }

    func testMemoryShrinksWhenManyElementsAreRemoved() {
        var delays = Delays<Int>()
        let ids = (0..<1_000).map { delays.insert($0, at: start + .seconds($0)).id }
        for id in ids { _ = delays.remove(id) }
        XCTAssertLessThan(delays.capacity, 200)
        XCTAssertTrue(delays.take(at: start + .seconds(1_000)).isEmpty)
    }
}
