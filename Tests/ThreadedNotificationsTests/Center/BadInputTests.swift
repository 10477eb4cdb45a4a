import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("bad input")

/// The results of wrong or extreme arguments.
final class BadInputTests: XCTestCase {
    func testCancellingATokenRemovesItsObserverFromItsOwnCenterOnlyAndOnce() {
        let (one, other) = (ThreadedNotificationCenter(), ThreadedNotificationCenter())
        let tokens = [one, other].map { $0.addObserver(forName: posted, on: .postingThread) { _ in } }
        tokens[0].cancel()
        tokens[0].cancel()
        XCTAssertEqual(one.post(name: posted), DeliveryCounters())
        XCTAssertEqual(other.post(name: posted).delivered, 1)
        XCTAssertEqual(tokens[1].counters.delivered, 1)
    }

    func testANegativeTimeoutCountsAsZero() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = center.addObserver(forName: posted, on: worker) { _ in
            hasBegun.signal()
            resume.wait()
        }
        center.post(name: posted)
        hasBegun.wait()
        assertThrows(DeliveryError.self) {
            try center.postAndWait(Notification(name: posted), timeout: .seconds(-5))
        }
        assertThrows(DeliveryError.handlerStillRunning(observer: token.id, after: .seconds(-5))) {
            try token.cancelAndWait(timeout: .seconds(-5))
        }
        assertThrows(DeliveryError.threadStillRunning(thread: "worker", after: .seconds(-5))) {
            try worker.waitUntilFinished(timeout: .seconds(-5))
        }
        resume.signal()
        resume.signal()
        try worker.stopAndWait()
        let block = try XCTUnwrap(try? TargetThread.postingThread.perform(after: .seconds(-5)) {})
        XCTAssertTrue(block.outcome == .delivered || block.outcome == .waiting)
    }

    func testTheLongestPossibleTimeoutDoesNotOverflow() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        for _ in 0..<100 { center.post(name: posted) }
        try center.postAndWait(Notification(name: posted), timeout: .seconds(Int64.max))
        try worker.performAndWait(timeout: .seconds(Int64.max)) {}
        try worker.perform(after: .seconds(Int64.max)) {}.cancel()
        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(Int64.max))
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 101))
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
