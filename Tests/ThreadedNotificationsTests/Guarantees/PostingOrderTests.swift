import Foundation
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in PostingOrderTests")

private func number(_ value: Int) -> Notification { Notification(name: posted, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantee 4: what one thread posts is delivered in the order posted. `RandomProgramsTests` checks it too.
final class PostingOrderTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testTheNotificationsOfOneThreadReachAnObserverInPostingOrder() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let last = Locked<[Int: Int]>([:])
        let faults = Atomic<Int>(0)
        let token = center.addObserver(forName: posted, on: worker, transform: number(of:)) { value in
            let before = last.withLock { $0.updateValue(value, forKey: value / 100_000) }
            if let before, before >= value { faults.add(1, ordering: .relaxed) }
            // A nested run of the run loop must not change the order.
            if value.isMultiple(of: 97) { RunLoop.runCurrentOnce() }
        }
        let posters = try (0..<4).map { try RunLoopThread.started("poster \($0)") }
        for (index, poster) in posters.enumerated() {
            try poster.perform {
                for value in 0..<2000 { center.post(number(index * 100_000 + value)) }
            }
        }
        for poster in posters { try poster.stopAndWait() }
        try worker.stopAndWait()
        XCTAssertEqual(token.counters.delivered, 8000)
        XCTAssertEqual(faults.load(ordering: .relaxed), 0)
    }

    func testAHandlersPostDuringAWaitingPostIsDeliveredAfterIt() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: posted, on: .main, transform: number(of:)) { value in
            handled.withLock { $0.append(value) }
            if value == 1 { center.post(number(3)) }
        }
        Thread.posting(1) { center.post(number(1)) }.wait()
        XCTAssertEqual(try center.postAndWait(number(2), timeout: timeout), DeliveryCounters(delivered: 1))
        XCTAssertEqual(handled.withLock { $0 }, [1, 2])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [1, 2, 3])
        XCTAssertEqual(token.counters, .init(delivered: 3))
    }

    func testAHandlersPostAndBlockDuringAWaitingBlockAreDeliveredAfterIt() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let first = center.addObserver(forName: posted, object: 1, on: .main) { _ in
            log.withLock { $0.append("1") }
            center.post(number(2))
            do { try MainThread.main.perform { log.withLock { $0.append("performed") } } } catch {
                XCTFail("\(error)")
            }
        }
        let second = center.addObserver(forName: posted, object: 2, on: .main) { _ in
            log.withLock { $0.append("2") }
        }
        Thread.posting(1) { center.post(number(1)) }.wait()
        let value = try MainThread.main.performAndWait(timeout: timeout) {
            log.withLock { $0.append("block") }
            return 42
        }
        XCTAssertEqual(value, 42)
        XCTAssertEqual(log.withLock { $0 }, ["1", "block"])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.withLock { $0 }, ["1", "block", "2", "performed"])
        XCTAssertEqual([first, second].map(\.counters.delivered), [1, 1])
    }
}
