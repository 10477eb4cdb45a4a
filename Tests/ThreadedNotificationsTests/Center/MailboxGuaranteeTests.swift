import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let guarantee = Notification.Name("guarantee")

private func number(_ value: Int) -> Notification { Notification(name: guarantee, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantees 9 to 12 of the article *Order and Guarantees*: what waits.
final class MailboxGuaranteeTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testGuarantee09ANotificationWaitsWhileTheRunLoopRunsInAModeThatIsNotCommon() throws {
        let center = ThreadedNotificationCenter()
        let modal = RunLoop.Mode("modal")
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: guarantee, on: .main, transform: number(of:)) { value in
            handled.withLock { $0.append(value) }
        }
        Thread.posting(1) { _ = center.post(number(1)) }.wait()
        _ = RunLoop.current.run(mode: modal, before: Date())
        XCTAssertEqual(handled.withLock { $0 }, [])
        XCTAssertEqual(center.post(number(2)), DeliveryCounters(waiting: 1))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [1, 2])
        XCTAssertEqual(center.post(number(3)), DeliveryCounters(delivered: 1))
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 3))
    }

    func testGuarantee10PostsToAStoppingThreadAndTakenDeliveriesAreCountedAsTargetGone() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(forName: guarantee, on: worker) { _ in }
        worker.stop()
        XCTAssertEqual(center.post(name: guarantee), DeliveryCounters(targetGone: 1))
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, .init(targetGone: 1))

        let exiting = try RunLoopThread.started("exiting")
        let resumeExiting = try exiting.keptBusy()
        @Sendable func endThread() { Thread.exit() }
        let other = center.addObserver(forName: guarantee, on: exiting) { _ in endThread() }
        for _ in 0..<3 { center.post(name: guarantee) }
        resumeExiting.signal()
        try exiting.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(other.counters, .init(delivered: 1, targetGone: 2))
    }

    func testGuarantee10DeliveriesToAnEndedThreadAreCountedAndLaterPostsReportIt() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in handled.add(1, ordering: .relaxed) }
        let resume = try worker.keptBusy()
        try worker.perform { Thread.exit() }
        for _ in 0..<3 { XCTAssertEqual(center.post(name: guarantee).waiting, 1) }
        XCTAssertEqual(token.counters, .init(waiting: 3))
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, .init(targetGone: 3))
        XCTAssertEqual(center.post(name: guarantee), DeliveryCounters(targetGone: 1))
        XCTAssertEqual(handled.load(ordering: .relaxed), 0)
        XCTAssertThrowsError(try worker.perform {}) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
        }
        XCTAssertThrowsError(try center.postAndWait(Notification(name: guarantee), timeout: timeout)) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
        }
    }

    func testGuarantee11ADrainTakesEverythingAndAHandlerThatAlwaysPostsDoesNotStarveTheRunLoop() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in handled.add(1, ordering: .relaxed) }
        let resume = try worker.keptBusy()
        // One signal for all posts.
        let events = try tracing {
            for _ in 0..<1000 { center.post(name: guarantee) }
        }
        XCTAssertEqual(events.count { $0.stage == .signal }, 1)
        resume.signal()
        try worker.performAndWait(timeout: timeout) {}
        XCTAssertEqual(handled.load(ordering: .relaxed), 1000)
        XCTAssertEqual(token.counters.waiting, 0)

        // A handler that always posts again, and a port of the same run loop.
        let isOver = Atomic<Bool>(false)
        let again = Notification.Name("again")
        let endless = center.addObserver(forName: again, on: worker) { _ in
            if !isOver.load(ordering: .relaxed) { center.post(name: again) }
        }
        center.post(name: again)
        let receiver = CountingReceiver()
        let port = SignalPort()
        let served = expectation(description: "served")
        receiver.whenCalled { served.fulfill() }
        port.setDelegate(receiver)
        try worker.perform { RunLoop.current.add(port, forMode: .common) }
        port.signal()
        wait(for: [served], timeout: TestTimeout.seconds)
        isOver.store(true, ordering: .relaxed)
        try worker.stopAndWait()
        XCTAssertGreaterThan(endless.counters.delivered, 0)
    }

    func testGuarantee12EachOverflowPolicyBoundsAndCountsWhatWaits() throws {
        let center = ThreadedNotificationCenter()
        func run(_ policy: OverflowPolicy) throws -> (
            handled: [Int], counters: DeliveryCounters, reports: [DeliveryCounters]
        ) {
            let worker = try RunLoopThread.started("worker")
            let handled = Locked<[Int]>([])
            let token = center.addObserver(
                forName: guarantee, on: worker, options: ObserverOptions(overflow: policy),
                transform: { ($0.userInfo?["number"] as? Int) },
                using: { value in handled.withLock { $0.append(value) } })
            let resume = try worker.keptBusy()
            let reports = (1...6).map { value in
                center.post(name: guarantee, object: value % 2, userInfo: ["number": value])
            }
            resume.signal()
            try worker.stopAndWait()
            return (handled.withLock { $0 }, token.counters, reports)
        }
        let oldest = try run(.dropOldest(capacity: 2))
        XCTAssertEqual(oldest.handled, [5, 6])
        XCTAssertEqual(oldest.counters, .init(delivered: 2, dropped: 4))
        let newest = try run(.dropNewest(capacity: 2))
        XCTAssertEqual(newest.handled, [1, 2])
        XCTAssertEqual(newest.counters, .init(delivered: 2, dropped: 4))
        XCTAssertEqual(newest.reports.map(\.dropped), [0, 0, 1, 1, 1, 1])
        let latest = try run(.keepLatest)
        XCTAssertEqual(latest.handled, [5, 6])
        XCTAssertEqual(latest.counters, .init(delivered: 2, coalesced: 4))
        let refused = try run(.refuse(capacity: 2))
        XCTAssertEqual(refused.handled, [1, 2])
        XCTAssertEqual(refused.reports.map(\.refused), [0, 0, 1, 1, 1, 1])
        let unbounded = try run(.unbounded)
        XCTAssertEqual(unbounded.handled, [1, 2, 3, 4, 5, 6])
    }
}
