import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in OwnThreadPostTests")

private func number(_ value: Int) -> Notification { Notification(name: posted, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantee 2: a post on the target thread is delivered before it returns, unless something waits there.
final class OwnThreadPostTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAPostOnTheTargetThreadIsDeliveredBeforeItReturnsUnlessOthersWait() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: posted, on: .current, transform: number(of:)) { value in
            handled.withLock { $0.append(value) }
        }
        XCTAssertEqual(center.post(number(1)).delivered, 1)
        XCTAssertEqual(handled.withLock { $0 }, [1])

        let poster = try RunLoopThread.started("poster")
        try poster.performAndWait(timeout: timeout) { _ = center.post(number(2)) }
        XCTAssertEqual(center.post(number(3)).waiting, 1, "2 waits, so 3 must not overtake it")
        XCTAssertEqual(handled.withLock { $0 }, [1])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [1, 2, 3])
        XCTAssertEqual(center.post(number(4)).delivered, 1)
        try poster.stopAndWait()
        token.cancel()
    }

    func testThePolicyAtOnceOvertakesAndMarksTheDelivery() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(
            forName: posted, on: .current, options: ObserverOptions(sameThread: .atOnce), transform: number(of:)
        ) { value in handled.withLock { $0.append(value) } }
        let poster = try RunLoopThread.started("poster")
        try poster.performAndWait(timeout: timeout) { _ = center.post(number(1)) }
        let overtaking = try tracing(of: token.id) {
            XCTAssertEqual(center.post(number(2)).delivered, 1)
            RunLoop.runCurrentOnce()
        }
        XCTAssertEqual(handled.withLock { $0 }, [2, 1])
        XCTAssertEqual(overtaking.filter { $0.stage == .deliver }.map(\.overtakes), [true, false])
        try poster.stopAndWait()
    }

    func testPostsNested10000DeepAreHandledAtMost101DeepTheRestGoesThroughTheMailbox() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let deepest = Locked((now: 0, ever: 0))
        let token = center.addObserver(
            forName: posted, on: worker, transform: { $0.object as? Int },
            using: { level in
                deepest.withLock { deepest in
                    deepest.now += 1
                    deepest.ever = max(deepest.ever, deepest.now)
                }
                if level < 10_000 { center.post(name: posted, object: level + 1) }
                deepest.withLock { $0.now -= 1 }
            })
        let isDone = DispatchSemaphore(value: 0)
        let last = center.addObserver(forName: posted, object: 10_000, on: worker) { _ in isDone.signal() }
        center.post(name: posted, object: 1)
        XCTAssertEqual(isDone.wait(timeout: .now() + TestTimeout.seconds), .success)
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 10_000))
        XCTAssertLessThanOrEqual(deepest.withLock { $0.ever }, 101)
        last.cancel()
    }
}
