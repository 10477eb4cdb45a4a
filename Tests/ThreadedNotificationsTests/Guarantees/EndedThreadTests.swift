import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted in EndedThreadTests")

/// Guarantee 10: what a thread loses at its end is counted, and told.
final class EndedThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testWhatWaitsForAThreadThatEndsIsCountedAndLaterPostsReportIt() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let token = center.addObserver(forName: posted, on: worker) { _ in XCTFail("its handler was called") }
        let resume = try worker.keptBusy()
        try worker.perform { Thread.exit() }
        for _ in 0..<3 { XCTAssertEqual(center.post(name: posted).waiting, 1) }
        XCTAssertEqual(token.counters, .init(waiting: 3))
        worker.stop()
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(targetGone: 1), "it is stopping")
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, .init(targetGone: 4))
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(targetGone: 1))
        assertThrows(DeliveryError.threadStopped(thread: "worker")) { try worker.perform {} }
        assertThrows(DeliveryError.threadStopped(thread: "worker")) {
            try center.postAndWait(Notification(name: posted), timeout: timeout)
        }
    }

    func testAPostDuringTheEndOfItsTargetThreadIsTargetGoneAlsoAfterEarlierPosts() throws {
        for wasPosted in [false, true] {
            let center = ThreadedNotificationCenter()
            let tokens = Locked<[ObserverToken]>([])
            let report = Locked<DeliveryCounters?>(nil)
            let thread = try SystemThread.start {
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
            }.get()
            XCTAssertTrue(thread.join(until: .after(timeout)))
            XCTAssertEqual(report.withLock { $0 }, DeliveryCounters(targetGone: 1), "posted before: \(wasPosted)")
            XCTAssertEqual(
                tokens.withLock { $0.first }?.counters, .init(delivered: wasPosted ? 1 : 0, targetGone: 2))
        }
    }
}
