import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in OwnThreadPostTests")

/// Guarantee 2: a post on the target thread is delivered before it returns, unless something waits there.
final class OwnThreadPostTests: XCTestCase {
    func testAPostOnTheTargetThreadIsDeliveredBeforeItReturnsUnlessOthersWaitOrItOvertakes() throws {
        for policy in [SameThreadPolicy.ordered, .atOnce] {
            let center = ThreadedNotificationCenter()
            let handled = Locked<[Int]>([])
            let token = center.addObserver(
                forName: posted, on: .current, options: ObserverOptions(sameThread: policy),
                transform: { $0.object as? Int }, using: { value in handled.withLock { $0.append(value) } })
            XCTAssertEqual(center.post(name: posted, object: 1).delivered, 1)
            Thread.posting(1) { center.post(name: posted, object: 2) }.wait()
            let events = try tracing(of: token.id) {
                let counters = center.post(name: posted, object: 3)
                XCTAssertEqual(counters, policy == .atOnce ? .init(delivered: 1) : .init(waiting: 1))
                RunLoop.runCurrentOnce()
            }
            XCTAssertEqual(handled.withLock { $0 }, policy == .atOnce ? [1, 3, 2] : [1, 2, 3])
            XCTAssertEqual(
                events.filter { $0.stage == .deliver }.map(\.overtakes),
                policy == .atOnce ? [true, false] : [false, false])
            XCTAssertEqual(center.post(name: posted, object: 4).delivered, 1)
        }
    }

    func testALaterHandlerIsCalledAfterPostReturnedAndAfterTheOtherObservers() {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        func observe(_ name: String, _ policy: SameThreadPolicy) -> ObserverToken {
            center.addObserver(forName: posted, on: .current, options: ObserverOptions(sameThread: policy)) { post in
                let number = post.object as? Int ?? 0
                log.withLock { $0.append("\(name) \(number)") }
                guard policy == .later, number < 2 else { return }
                XCTAssertEqual(center.post(name: posted, object: number + 1), .init(delivered: 2, waiting: 1))
                log.withLock { $0.append("posted \(number + 1)") }
            }
        }
        let tokens = [observe("later", .later), observe("ordered", .ordered), observe("at once", .atOnce)]
        XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(delivered: 2, waiting: 1))
        XCTAssertEqual(log.withLock { $0 }, ["ordered 1", "at once 1"])
        XCTAssertTrue(RunLoop.runCurrent { tokens[0].counters.waiting == 0 })
        XCTAssertEqual(
            log.withLock { $0.dropFirst(2) }, ["later 1", "ordered 2", "at once 2", "posted 2", "later 2"])
        XCTAssertEqual(tokens.map(\.counters), Array(repeating: DeliveryCounters(delivered: 2), count: 3))
    }

    func testPostsNested2000DeepAreHandledAtMost101DeepTheRestGoesThroughTheMailbox() throws {
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
                if level < 2_000 { center.post(name: posted, object: level + 1) }
                deepest.withLock { $0.now -= 1 }
            })
        let isDone = DispatchSemaphore(value: 0)
        let last = center.addObserver(forName: posted, object: 2_000, on: worker) { _ in isDone.signal() }
        center.post(name: posted, object: 1)
        XCTAssertEqual(isDone.wait(timeout: .now() + TestTimeout.seconds), .success)
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 2_000))
        XCTAssertLessThanOrEqual(deepest.withLock { $0.ever }, 101)
        last.cancel()
    }
}
