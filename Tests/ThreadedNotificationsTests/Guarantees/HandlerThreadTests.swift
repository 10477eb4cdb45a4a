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
        let seen = Locked<[String: Set<String?>]>([:])
        @Sendable func record(_ observer: String) {
            let name = ThreadIdentity.current.name
            seen.withLock { _ = $0[observer, default: []].insert(name) }
        }
        var tokens = threads.map { thread in
            center.addObserver(forName: posted, on: thread) { _ in record(thread.name) }
        }
        tokens.append(center.addObserver(forName: posted, on: .main) { _ in record("main") })
        tokens.append(center.addObserver(forName: posted, on: .current, using: { _ in record("current") }))
        tokens.append(center.addObserver(forName: posted, on: .postingThread) { _ in record("posting") })
        for thread in threads { try thread.performAndWait(timeout: timeout) { _ = center.post(name: posted) } }
        center.post(name: posted)
        for thread in threads { try thread.stopAndWait() }
        RunLoop.runCurrentOnce()

        let all = seen.withLock { $0 }
        for thread in threads { XCTAssertEqual(all[thread.name], [thread.name]) }
        XCTAssertEqual(all["main"], ["main"])
        XCTAssertEqual(all["current"], ["main"])
        XCTAssertEqual(all["posting"], Set(threads.map(\.name) + ["main"]))
        for token in tokens { XCTAssertEqual(token.counters.delivered, 4) }
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
        let log = Locked<[String]>([])
        @Sendable func note(_ text: String) {
            let line = "\(text) on \(worker.isCurrent)"
            log.withLock { $0.append(line) }
        }
        let token = try worker.performAndWait(timeout: timeout) {
            let held = ReleaseRecorder { note("released") }
            // Not Sendable: the handler changes this variable without a lock.
            var count = 0
            return center.addObserver(forName: posted, on: .current) { _ in
                count += 1
                withExtendedLifetime(held) { note("handled \(count)") }
            }
        }
        for _ in 1...2 { center.post(name: posted) }
        try worker.performAndWait(timeout: timeout) {}
        token.cancel()
        try worker.stopAndWait()
        XCTAssertEqual(log.withLock { $0 }, ["handled 1 on true", "handled 2 on true", "released on true"])
    }
}
