import XCTest

@testable import DistributedNotifications

final class ControlQueueTests: XCTestCase {
    private func register(_ number: UInt32) -> ControlQueue.Entry {
        .register(number, name: "n", object: nil, behavior: .hold)
    }

    private func queue(suspended: Bool = false, registering numbers: [UInt32] = []) -> ControlQueue {
        var queue = ControlQueue(suspended: suspended)
        for number in numbers { queue.register(number, name: "n", object: nil, behavior: .hold) }
        return queue
    }

    func testEntriesAreKeptInOrderUntilTheyAreTaken() {
        var queue = queue(registering: [1, 2])
        queue.suspend(true)
        queue.synchronize(1)
        queue.unregister(7)
        XCTAssertEqual(queue.entries, [register(1), register(2), .suspension(true), .synchronize(1), .unregister(7)])
        let first = queue.take()
        let second = queue.take()
        XCTAssertTrue(!first.isEmpty && second.isEmpty)
    }

    func testUnregisteringRemovesARegistrationThatWasNotTaken() {
        var queue = queue(registering: [1, 2, 3])
        queue.unregister(2)
        XCTAssertEqual(queue.entries, [register(1), register(3)])
        _ = queue.take()
        queue.unregister(1)
        XCTAssertEqual(queue.entries, [.unregister(1)])
    }

    func testOnlyTheLastSuspensionIsKeptAndOnlyIfItChangesTheServersState() {
        var queue = queue()
        queue.suspend(true)
        queue.suspend(false)
        XCTAssertEqual(queue.entries, [])
        queue.suspend(true)
        _ = queue.take()
        queue.suspend(false)
        queue.suspend(true)
        XCTAssertEqual(queue.entries, [])
        queue.suspend(false)
        XCTAssertEqual(queue.entries, [.suspension(false)])
    }

    func testASuspensionThatTheHelloToldIsNotQueued() {
        var queue = queue(suspended: true)
        queue.suspend(true)
        XCTAssertEqual(queue.entries, [])
        queue.suspend(false)
        XCTAssertEqual(queue.entries, [.suspension(false)])
    }

    func testTheQueueOfAServerThatReadsNothingIsBoundedByTheObservers() {
        var queue = queue(registering: Array(0..<10))
        _ = queue.take()
        for number in 10..<UInt32(10_000) {
            queue.register(number, name: "n", object: nil, behavior: .hold)
            queue.suspend(number.isMultiple(of: 2))
            queue.synchronize(UInt64(number))
            queue.cancelSynchronization(UInt64(number))
            queue.unregister(number)
        }
        for number in 0..<UInt32(10) { queue.unregister(number) }
        XCTAssertEqual(queue.entries, (0..<UInt32(10)).map { .unregister($0) })
    }
}
