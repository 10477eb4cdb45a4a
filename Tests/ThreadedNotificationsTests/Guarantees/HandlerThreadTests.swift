import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in HandlerThreadTests")

/// Guarantee 1: a handler runs on its thread, and on no other.
final class HandlerThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAHandlerRunsOnItsTargetThreadAndOnNoOther() throws {
        let center = ThreadedNotificationCenter()
        let threads = try (0..<3).map { try RunLoopThread.started("target \($0)") }
        let seen = Locked<[String: Set<Int>]>([:])
        @Sendable func record(_ observer: String) {
            let number = ThreadIdentity.current.number
            seen.withLock { _ = $0[observer, default: []].insert(number) }
        }
        var tokens = threads.map { thread in
            center.addObserver(forName: posted, on: thread) { _ in record(thread.name) }
        }
        tokens.append(center.addObserver(forName: posted, on: .main) { _ in record("main") })
        tokens.append(center.addObserver(forName: posted, on: .current, using: { _ in record("current") }))
        tokens.append(center.addObserver(forName: posted, on: .postingThread) { _ in record("posting") })
        let posters = try (0..<3).map { try RunLoopThread.started("poster \($0)") }
        for poster in posters + threads {
            try poster.perform { for _ in 0..<100 { center.post(name: posted) } }
        }
        for thread in posters { try thread.stopAndWait() }
        for thread in threads { try thread.performAndWait(timeout: timeout) {} }
        center.post(name: posted)
        for thread in threads { try thread.stopAndWait() }
        RunLoop.runCurrentOnce()

        let all = seen.withLock { $0 }
        for thread in threads { XCTAssertEqual(all[thread.name], [try XCTUnwrap(thread.identity).number]) }
        XCTAssertEqual(all["main"], [1])
        XCTAssertEqual(all["current"], [1])
        XCTAssertEqual(all["posting"], Set((posters + threads).compactMap { $0.identity?.number } + [1]))
        for token in tokens { XCTAssertEqual(token.counters.delivered, 601) }
    }

    func testATransformIsCalledOnThePostingThreadAndNilDeliversNothing() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let threads = Locked<[Int]>([])
        let token = center.addObserver(
            forName: posted, on: worker,
            transform: { notification -> Int? in
                let number = ThreadIdentity.current.number
                threads.withLock { $0.append(number) }
                return notification.object as? Int
            }, using: { value in threads.withLock { $0.append(value) } })
        XCTAssertEqual(center.post(name: posted, object: 1000), DeliveryCounters(waiting: 1))
        XCTAssertEqual(center.post(name: posted, object: "no number"), DeliveryCounters())
        try worker.stopAndWait()
        XCTAssertEqual(threads.withLock { $0.sorted() }, [1, 1, 1000])
        XCTAssertEqual(token.counters, .init(delivered: 1))
    }

    func testAHandlerThatIsNotSendableIsCalledAndReleasedOnItsThread() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let events = Locked<[String]>([])
        let token = try worker.performAndWait(timeout: timeout) {
            let held = ReleaseRecorder { events.withLock { $0.append("released on \(worker.isCurrent)") } }
            // Not Sendable: the handler changes this variable without a lock.
            var count = 0
            return center.addObserver(
                forName: posted,
                on: .current,
                using: { _ in
                    count += 1
                    withExtendedLifetime(held) {}
                    let seen = "handled \(count) on \(worker.isCurrent)"
                    events.withLock { $0.append(seen) }
                })
        }
        center.post(name: posted)
        center.post(name: posted)
        try worker.performAndWait(timeout: timeout) {}
        token.cancel()
        try worker.stopAndWait()
        XCTAssertEqual(
            events.withLock { $0 }, ["handled 1 on true", "handled 2 on true", "released on true"])
    }

    func testAHandlerIsReleasedOnItsThreadWhenItIsCancelledOrItsCenterIsDeallocated() throws {
        let worker = try RunLoopThread.started("worker")
        let released = expectation(description: "released on the worker")
        released.expectedFulfillmentCount = 2
        released.assertForOverFulfill = true
        for isCenterReleased in [true, false] {
            var center: ThreadedNotificationCenter? = ThreadedNotificationCenter()
            let kept = Locked<NSObject?>(NSObject())
            let observed = center
            let token = try worker.performAndWait(timeout: timeout) { () -> ObserverToken? in
                let held = ReleaseRecorder {
                    XCTAssertTrue(worker.isCurrent)
                    released.fulfill()
                }
                if isCenterReleased, let object = kept.withLock({ $0 }) {
                    observed?.addObserver(object, forName: posted, on: .current) { _, _ in
                        withExtendedLifetime(held) {}
                    }
                    return nil
                }
                return observed?.addObserver(forName: posted, on: .current) { _ in withExtendedLifetime(held) {} }
            }
            center = nil
            token?.cancel()
            kept.withLock { $0 = nil }
        }
        wait(for: [released], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
    }
}
