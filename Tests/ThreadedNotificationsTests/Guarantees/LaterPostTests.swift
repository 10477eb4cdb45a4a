import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in LaterPostTests")

/// Guarantee 2 with `SameThreadPolicy.later`: nothing is called before the call returns. `RandomProgramsTests` has it
/// beside the other policies, waits and blocks.
final class LaterPostTests: XCTestCase {
    private let center = ThreadedNotificationCenter()
    private let log = Locked<[String]>([])

    private var lines: [String] { log.withLock { $0 } }

    /// An observer that logs its name and the notification's number, and then acts.
    private func observe(
        _ name: String, on thread: some DeliveryTarget = .main, _ policy: SameThreadPolicy = .later,
        overflow: OverflowPolicy = .unbounded, then act: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> ObserverToken {
        center.addObserver(
            forName: posted, on: thread, options: ObserverOptions(sameThread: policy, overflow: overflow),
            transform: { $0.object as? Int },
            using: { [log] value in
                log.withLock { $0.append("\(name) \(value)") }
                act(value)
            })
    }

    private func post(_ number: Int) -> DeliveryCounters { center.post(name: posted, object: number) }

    func testALaterHandlerIsCalledAfterPostReturnedAlsoOfAPostInAHandler() {
        let (center, log) = (center, log)
        let token = observe("later") { value in
            guard value < 3 else { return }
            XCTAssertEqual(center.post(name: posted, object: value + 1), DeliveryCounters(waiting: 1))
            log.withLock { $0.append("posted \(value + 1)") }
        }
        XCTAssertEqual(post(1), DeliveryCounters(waiting: 1))
        XCTAssertEqual(lines, [])
        XCTAssertTrue(RunLoop.runCurrent { token.counters.waiting == 0 })
        XCTAssertEqual(lines, ["later 1", "posted 2", "later 2", "posted 3", "later 3"])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 3))
    }

    func testTheOtherObserversOfAPostComeBeforeTheLaterOnesAndAreNotOvertaken() throws {
        let observers = [
            observe("later"), observe("ordered", .ordered), observe("at once", .atOnce),
            observe("on the posting thread", on: .postingThread, .ordered), observe("another later"),
        ]
        let events = try tracing { XCTAssertEqual(post(1), DeliveryCounters(delivered: 3, waiting: 2)) }
        XCTAssertEqual(lines, ["ordered 1", "at once 1", "on the posting thread 1"])
        XCTAssertFalse(events.contains { $0.overtakes }, "its own post's deliveries are not overtaken")
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines.suffix(2), ["later 1", "another later 1"])
        XCTAssertEqual(observers.map(\.counters), Array(repeating: DeliveryCounters(delivered: 1), count: 5))
    }

    func testALaterObserversOverflowPolicyLimitsWhatWaitsOnItsOwnThreadToo() {
        let observers = [
            observe("one", overflow: .dropOldest(capacity: 1)), observe("two", overflow: .dropNewest(capacity: 2)),
        ]
        XCTAssertEqual((1...3).map { post($0).dropped }, [0, 0, 1])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["two 1", "two 2", "one 3"])
        XCTAssertEqual(observers.map(\.counters), [.init(delivered: 1, dropped: 2), .init(delivered: 2, dropped: 1)])
    }

    func testALaterDeliveryToARemovedObserverIsCancelledAndToAStoppedThreadTargetGone() throws {
        let removed = observe("removed")
        XCTAssertEqual(post(1), DeliveryCounters(waiting: 1))
        removed.cancel()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(removed.counters, DeliveryCounters(cancelled: 1))

        let worker = try RunLoopThread.started("worker")
        let center = center
        let token = observe("later", on: worker)
        try worker.performAndWait(timeout: TestTimeout.hang) {
            worker.stop()
            XCTAssertEqual(center.post(name: posted, object: 2), DeliveryCounters(targetGone: 1))
            assertThrows(DeliveryError.threadStopped(thread: "worker")) { try worker.performLater {} }
        }
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        XCTAssertEqual(token.counters, DeliveryCounters(targetGone: 1))
        XCTAssertEqual(lines, [])
    }
}
