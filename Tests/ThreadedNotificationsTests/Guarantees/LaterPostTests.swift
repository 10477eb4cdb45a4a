import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in LaterPostTests")

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantee 2 with `SameThreadPolicy.later`, and `performLater`: nothing is called before the call returns.
final class LaterPostTests: XCTestCase {
    private let timeout = TestTimeout.hang

    private let center = ThreadedNotificationCenter()
    private let log = Locked<[String]>([])

    private var lines: [String] { log.withLock { $0 } }

    override func tearDown() {
        // The next test begins with an empty mailbox.
        RunLoop.runCurrentOnce()
    }

    /// An observer that logs its name and the notification's number, and then acts.
    private func observe(
        _ name: String, on thread: some DeliveryTarget = .main, _ policy: SameThreadPolicy,
        overflow: OverflowPolicy = .unbounded,
        then act: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> ObserverToken {
        center.addObserver(
            forName: posted, on: thread,
            options: ObserverOptions(sameThread: policy, overflow: overflow), transform: number(of:)
        ) { [log] value in
            log.withLock { $0.append("\(name) \(value)") }
            act(value)
        }
    }

    private func post(_ number: Int) -> DeliveryCounters { center.post(name: posted, object: number) }

    func testALaterHandlerIsCalledAfterPostReturnedAlsoOfAPostInAHandler() throws {
        let worker = try RunLoopThread.started("worker")
        let (center, log) = (center, log)
        let token = observe("later", on: worker, .later) { value in
            guard value < 3 else { return }
            XCTAssertEqual(center.post(name: posted, object: value + 1), DeliveryCounters(waiting: 1))
            log.withLock { $0.append("posted \(value + 1)") }
        }
        try worker.performAndWait(timeout: timeout) {
            XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(waiting: 1))
            log.withLock { $0.append("posted 1") }
        }
        let isEmpty = expectation(description: "all is delivered")
        @Sendable func fulfillWhenEmpty() {
            if token.counters.waiting == 0 { isEmpty.fulfill() } else { try? worker.performLater(fulfillWhenEmpty) }
        }
        try worker.performLater(fulfillWhenEmpty)
        wait(for: [isEmpty], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
        XCTAssertEqual(lines, ["posted 1", "later 1", "posted 2", "later 2", "posted 3", "later 3"])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 3))
    }

    func testOrderedObserversOfTheSamePostAreCalledBeforePostReturns() throws {
        let observers = [
            observe("later", .later), observe("ordered", .ordered), observe("at once", .atOnce),
            observe("on the posting thread", on: .postingThread, .ordered), observe("another later", .later),
            observe("last", .ordered),
        ]
        let events = try tracing {
            XCTAssertEqual(post(1), DeliveryCounters(delivered: 4, waiting: 2))
        }
        XCTAssertEqual(lines, ["ordered 1", "at once 1", "on the posting thread 1", "last 1"])
        XCTAssertFalse(events.contains { $0.overtakes }, "its own post's deliveries are not overtaken")
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines.suffix(2), ["later 1", "another later 1"])
        XCTAssertEqual(observers.map(\.counters), Array(repeating: DeliveryCounters(delivered: 1), count: 6))
    }

    func testPostAndWaitDeliversWhatWaitsAndDoesNotWaitForALaterObserverOfItsOwnThread() throws {
        let worker = try RunLoopThread.started("worker")
        let observers = [
            observe("later", .later), observe("ordered", .ordered), observe("worker", on: worker, .later),
        ]
        _ = post(1)
        let report = try center.postAndWait(Notification(name: posted, object: 2), timeout: timeout)
        XCTAssertEqual(report, DeliveryCounters(delivered: 2, waiting: 1))
        XCTAssertEqual(lines.filter { !$0.hasPrefix("worker") }, ["ordered 1", "later 1", "ordered 2"])
        RunLoop.runCurrentOnce()
        try worker.stopAndWait()
        XCTAssertEqual(lines.last { !$0.hasPrefix("worker") }, "later 2")
        XCTAssertEqual(observers.map(\.counters), Array(repeating: DeliveryCounters(delivered: 2), count: 3))
    }

    func testALaterObserversOverflowPolicyLimitsWhatWaitsOnItsOwnThreadToo() {
        let observers = [
            observe("one", .later, overflow: .dropOldest(capacity: 1)),
            observe("two", .later, overflow: .dropNewest(capacity: 2)),
        ]
        XCTAssertEqual((1...3).map { post($0).dropped }, [0, 0, 1])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["two 1", "two 2", "one 3"])
        XCTAssertEqual(
            observers.map(\.counters), [.init(delivered: 1, dropped: 2), .init(delivered: 2, dropped: 1)])
    }

    func testALaterDeliveryToARemovedObserverIsCancelledAndToAStoppedThreadTargetGone() throws {
        let removed = observe("removed", .later)
        XCTAssertEqual(post(1), DeliveryCounters(waiting: 1))
        removed.cancel()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(removed.counters, DeliveryCounters(cancelled: 1))

        let worker = try RunLoopThread.started("worker")
        let center = center
        let token = observe("later", on: worker, .later)
        try worker.performAndWait(timeout: timeout) {
            worker.stop()
            XCTAssertEqual(center.post(name: posted, object: 2), DeliveryCounters(targetGone: 1))
            XCTAssertThrowsError(try worker.performLater {}) {
                XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
            }
        }
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, DeliveryCounters(targetGone: 1))
        XCTAssertEqual(lines, [])
    }

    func testABlockPerformedLaterComesAfterTheCallAndAfterEverythingThatWaits() throws {
        let log = log
        Thread.posting(1) { try? MainThread.main.perform { log.withLock { $0.append("1") } } }.wait()
        try MainThread.main.performLater {
            log.withLock { $0.append("2") }
            try? MainThread.main.performLater { log.withLock { $0.append("3") } }
            log.withLock { $0.append("2 ends") }
        }
        XCTAssertEqual(lines, [])
        XCTAssertTrue(RunLoop.runCurrent { self.lines.count == 4 })
        XCTAssertEqual(lines, ["1", "2", "2 ends", "3"])
    }
}
