import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

private let modal = RunLoop.Mode("modal")

/// A post on the target thread is delivered at once only in the common modes, also if an earlier answer was kept.
final class ServedModesTests: XCTestCase {
    private let timeout = TestTimeout.hang

    /// Calls a block while the current thread's run loop runs in a mode.
    private static func run(in mode: RunLoop.Mode, _ body: @escaping @Sendable () -> Void) {
        let wasCalled = Atomic<Bool>.Box(false)
        RunLoop.addDueTimer(in: mode) {
            body()
            wasCalled.value.store(true, ordering: .relaxed)
        }
        // The first pass may only notice that the thread was woken.
        for _ in 0..<10 where !wasCalled.value.load(ordering: .relaxed) { RunLoop.pollCurrent(in: mode) }
        XCTAssertTrue(wasCalled.value.load(ordering: .relaxed), "\(mode)")
    }

    func testAModeThatIsMadeCommonLaterServesObserversOfTheCommonModes() throws {
        let worker = try RunLoopThread.started("worker")
        try worker.performAndWait(timeout: timeout) {
            let center = ThreadedNotificationCenter()
            let token = center.addObserver(forName: posted, on: CurrentThread.current.targetThread) { _ in }
            Self.run(in: modal) {
                for _ in 0..<2 { XCTAssertEqual(center.post(name: posted), DeliveryCounters(waiting: 1)) }
                RunLoop.makeCommonInCurrent(modal)
                RunLoop.pollCurrent(in: modal)
                XCTAssertEqual(token.counters, .init(delivered: 2))
                XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1))
            }
        }
        try worker.stopAndWait()
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
