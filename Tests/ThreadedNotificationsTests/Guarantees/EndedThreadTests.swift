import Foundation
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in EndedThreadTests")

/// Guarantee 10: what a thread loses at its end is counted, and told.
final class EndedThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testPostsToAStoppingThreadAndTakenDeliveriesAreCountedAsTargetGone() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        worker.stop()
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(targetGone: 1))
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, .init(targetGone: 1))

        let exiting = try RunLoopThread.started("exiting")
        let resumeExiting = try exiting.keptBusy()
        @Sendable func endThread() { Thread.exit() }
        let other = center.addObserver(forName: posted, on: exiting) { _ in endThread() }
        for _ in 0..<3 { center.post(name: posted) }
        resumeExiting.signal()
        try exiting.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(other.counters, .init(delivered: 1, targetGone: 2))
    }

    func testDeliveriesToAnEndedThreadAreCountedAndLaterPostsReportIt() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: posted, on: worker) { _ in handled.add(1, ordering: .relaxed) }
        let resume = try worker.keptBusy()
        try worker.perform { Thread.exit() }
        for _ in 0..<3 { XCTAssertEqual(center.post(name: posted).waiting, 1) }
        XCTAssertEqual(token.counters, .init(waiting: 3))
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, .init(targetGone: 3))
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(targetGone: 1))
        XCTAssertEqual(handled.load(ordering: .relaxed), 0)
        XCTAssertThrowsError(try worker.perform {}) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
        }
        XCTAssertThrowsError(try center.postAndWait(Notification(name: posted), timeout: timeout)) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
        }
    }

    func testAPostDuringTheEndOfItsTargetThreadIsTargetGoneAlsoAfterEarlierPosts() {
        for wasPosted in [false, true] {
            let center = ThreadedNotificationCenter()
            let tokens = Locked<[ObserverToken]>([])
            let report = Locked<DeliveryCounters?>(nil)
            Thread.posting(1) {
                let token = center.addObserver(forName: posted, on: CurrentThread.current.targetThread) { _ in }
                tokens.withLock { $0.append(token) }
                if wasPosted { XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1)) }
                Thread.posting(1) {
                    // The notification waits for this thread, which runs no run loop, and is released at its end.
                    let held = ReleaseRecorder {
                        let last = center.post(name: posted)
                        report.withLock { $0 = last }
                    }
                    XCTAssertEqual(center.post(name: posted, userInfo: ["held": held]), DeliveryCounters(waiting: 1))
                }.wait()
            }.wait()
            let timeout = SuspendingClock.now + TestTimeout.hang
            while report.withLock({ $0 }) == nil, SuspendingClock.now < timeout { sched_yield() }
            XCTAssertEqual(report.withLock { $0 }, DeliveryCounters(targetGone: 1), "posted before: \(wasPosted)")
            let before = wasPosted ? 1 : 0
            XCTAssertEqual(
                tokens.withLock { $0.first }?.counters, .init(delivered: before, targetGone: 2))
        }
    }
}
