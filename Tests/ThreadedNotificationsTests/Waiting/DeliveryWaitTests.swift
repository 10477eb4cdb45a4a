import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("waiting")

@Sendable private func endThread() { Thread.exit() }

/// Posts that wait for delivery, and the ends of their waits.
final class DeliveryWaitTests: XCTestCase {
    private let timeout = TestTimeout.hang
    private let note = Notification(name: posted)

    override func tearDown() {
        XCTAssertTrue(ThreadWaits.isEmpty, "a wait was not ended")
    }

    func testAWaitingPostReturnsWhenEveryObserverHasHandledIt() throws {
        let center = ThreadedNotificationCenter()
        let threads = try (0..<3).map { try RunLoopThread.started("target \($0)") }
        let handled = Atomic<Int>(0)
        let targets: [TargetThread] =
            threads.map(\.targetThread) + threads.map(\.targetThread) + [.main, .postingThread]
        let tokens = targets.map { thread in
            center.addObserver(forName: posted, on: thread) { _ in handled.add(1, ordering: .relaxed) }
        }
        for round in 1...200 {
            XCTAssertEqual(try center.postAndWait(note, timeout: timeout), DeliveryCounters(delivered: 8))
            XCTAssertEqual(handled.load(ordering: .relaxed), 8 * round)
        }
        for thread in threads { try thread.stopAndWait() }
        XCTAssertEqual(tokens.count, 8)
    }

    func testAfterAWaitThatWatchingDidNotEndTheThreadDoesNotWatchAgainBeforeItSleeps() throws {
        let (before, after) = try budgets(aroundAWaitOf: .milliseconds(1))
        XCTAssertNotNil(before.limit)
        XCTAssertNil(after.limit)
    }

    func testAWaitThatIsShorterThanTheBudgetDoesNotWatch() throws {
        let (before, after) = try budgets(aroundAWaitOf: .zero)
        XCTAssertGreaterThanOrEqual(after.credit, before.credit)
    }

    /// The budgets of a new thread before and after it waited in vain.
    private func budgets(aroundAWaitOf timeout: Duration) throws -> (before: SpinBudget, after: SpinBudget) {
        let thread = try RunLoopThread.started("target")
        let (isHeld, mayReturn) = (MonotonicSemaphore(), MonotonicSemaphore())
        try thread.perform {
            isHeld.signal()
            mayReturn.wait()
        }
        isHeld.wait()
        let budgets = Locked<[SpinBudget]>([])
        let code = Locked<DeliveryError.Code?>(nil)
        Thread.posting(1) {
            budgets.withLock { $0.append(ThreadContext.current.waitBudget) }
            do {
                try thread.performAndWait(timeout: timeout) {}
            } catch {
                code.withLock { $0 = (error as? DeliveryError)?.code }
            }
            budgets.withLock { $0.append(ThreadContext.current.waitBudget) }
        }.wait()
        mayReturn.signal()
        try thread.stopAndWait()
        XCTAssertEqual(code.withLock { $0 }, .notDeliveredInTime)
        return budgets.withLock { ($0[0], $0[1]) }
    }

    func testAWaitingPostOnTheTargetThreadDeliversEarlierNotificationsFirst() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(
            forName: posted, on: .main, transform: { $0.object as? Int },
            using: { value in
                handled.withLock { $0.append(value) }
            })
        Thread.posting(1) { for value in 1...3 { center.post(name: posted, object: value) } }.wait()
        let report = try center.postAndWait(Notification(name: posted, object: 4), timeout: timeout)
        XCTAssertEqual(report, DeliveryCounters(delivered: 1))
        XCTAssertEqual(handled.withLock { $0 }, [1, 2, 3, 4])
        token.cancel()
    }

    func testATimeoutNamesPendingDeliveriesAndTheNotificationIsStillDelivered() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        XCTAssertThrowsError(try center.postAndWait(note, timeout: .zero)) {
            let pending = DeliveryError.Pending(
                notification: "waiting", observer: token.id, thread: "\(worker.identity!)")
            XCTAssertEqual($0 as? DeliveryError, .notDeliveredInTime(pending: [pending], after: .zero))
            XCTAssertTrue("\($0)".contains("waiting to observer \(token.id) on {number = "), "\($0)")
        }
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(delivered: 1))
    }

    func testATimeoutNamesTheHandlerThatTheThreadRunsAndWhereItWasAdded() throws {
        let (center, other) = (ThreadedNotificationCenter(), ThreadedNotificationCenter())
        let (worker, slow) = (try RunLoopThread.started("worker"), Notification.Name("slow"))
        let (isRunning, mayReturn) = (MonotonicSemaphore(), MonotonicSemaphore())
        let busy = other.addObserver(forName: slow, on: worker, file: "p/main.swift", line: 8) { _ in
            isRunning.signal()
            mayReturn.wait()
        }
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        other.post(name: slow)
        isRunning.wait()
        XCTAssertThrowsError(try center.postAndWait(note, timeout: .zero)) {
            XCTAssertEqual(($0 as? DeliveryError)?.pending.first?.running.map(\.observer), [busy.id])
            let named = "runs the handler of observer \(busy.id) of slow, which was added at p/main.swift:8."
            XCTAssertTrue("\($0)".contains(named), "\($0)")
        }
        XCTAssertThrowsError(try worker.performAndWait(timeout: .zero) {}) {
            XCTAssertEqual(($0 as? DeliveryError)?.pending.first?.running.map(\.observer), [busy.id])
        }
        mayReturn.signal()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(delivered: 1))
    }

    func testAWaitForAThreadThatRunsNoRunLoopEndsWithTheTimeoutOrTheThread() throws {
        let center = ThreadedNotificationCenter()
        let (ready, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = Locked<ObserverToken?>(nil)
        Thread.detachNewThread {
            let observer = center.addObserver(forName: posted, on: .current) { _ in }
            token.withLock { $0 = observer }
            ready.signal()
            resume.wait()
        }
        ready.wait()
        XCTAssertThrowsError(try center.postAndWait(note, timeout: .milliseconds(5))) {
            let error = $0 as? DeliveryError
            XCTAssertEqual(error?.code, .notDeliveredInTime, "\($0)")
            XCTAssertEqual(error?.pending.count, 1)
        }
        XCTAssertEqual(token.withLock { $0 }?.counters, .init(waiting: 1))

        // The end of the thread ends the waits for it, and the notifications are counted.
        let error = Locked<DeliveryError?>(nil)
        let waiting = Thread.posting(1) { [timeout] in
            do throws(DeliveryError) {
                try center.postAndWait(Notification(name: posted), timeout: timeout)
            } catch let ended {
                error.withLock { $0 = ended }
            }
        }
        while token.withLock({ $0 })?.counters.total != 2 { sched_yield() }
        resume.signal()
        waiting.wait()
        XCTAssertEqual(error.withLock { $0 }?.code, .threadEnded)
        XCTAssertEqual(token.withLock { $0 }?.counters, .init(targetGone: 2))
    }

    func testAThreadThatEndsInAHandlerOrABlockEndsTheWaitForIt() throws {
        let center = ThreadedNotificationCenter()
        let first = try RunLoopThread.started("first")
        let token = center.addObserver(forName: posted, on: first) { _ in endThread() }
        XCTAssertThrowsError(try center.postAndWait(note, timeout: timeout)) {
            XCTAssertEqual($0 as? DeliveryError, .threadEnded(thread: "\(first.identity!)"))
        }
        try token.cancelAndWait(timeout: timeout)
        try first.waitUntilFinished(timeout: timeout)

        let second = try RunLoopThread.started("second")
        XCTAssertThrowsError(try second.performAndWait(timeout: timeout) { endThread() }) {
            XCTAssertEqual($0 as? DeliveryError, .threadEnded(thread: "\(second.identity!)"))
        }
        try second.waitUntilFinished(timeout: timeout)
    }

    func testWaitingForAnUnstartedThreadFailsAtOnceAndPostsNothing() throws {
        let center = ThreadedNotificationCenter()
        let unstarted = RunLoopThread(name: "unstarted")
        let token = center.addObserver(forName: posted, on: unstarted) { _ in }
        XCTAssertThrowsError(try center.postAndWait(note, timeout: timeout)) {
            XCTAssertEqual($0 as? DeliveryError, .threadNotStarted(thread: "unstarted"))
        }
        XCTAssertEqual(token.counters, .init())
        // A post that does not wait is delivered when the thread starts.
        XCTAssertEqual(center.post(name: posted).waiting, 1)
        try unstarted.start()
        try unstarted.stopAndWait()
        XCTAssertEqual(token.counters, .init(delivered: 1))
    }

    func testAWaitDoesNotIncludeObserversOfAnotherObjectWithTheSameHash() throws {
        struct Colliding: Hashable {
            var number: Int
            func hash(into hasher: inout Hasher) {}
        }
        let center = ThreadedNotificationCenter()
        let unstarted = RunLoopThread(name: "unstarted")
        let token = center.addObserver(forName: posted, object: Colliding(number: 1), on: unstarted) { _ in }
        let report = try center.postAndWait(
            Notification(name: posted, object: Colliding(number: 2)), timeout: timeout)
        XCTAssertEqual(report, DeliveryCounters())
        token.cancel()
    }

    func testAWaitingPostOnTheTargetThreadEndsWhileAnotherThreadPosts() throws {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: posted, on: .main) { _ in }
        let poster = Thread.posting(1) { for _ in 0..<2_000 { center.post(name: posted) } }
        while poster.wait(timeout: .now()) == .timedOut {
            XCTAssertEqual(try center.postAndWait(note, timeout: timeout), DeliveryCounters(delivered: 1))
        }
        RunLoop.runCurrentOnce()
        XCTAssertEqual(token.counters.waiting, 0)
    }

    func testAWaitFailsForADeliveryThatTheOverflowPolicyDrops() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(
            forName: posted, on: worker, options: ObserverOptions(overflow: .refuse(capacity: 1))
        ) { _ in }
        center.post(note)
        XCTAssertThrowsError(try center.postAndWait(note, timeout: timeout)) {
            XCTAssertEqual($0 as? DeliveryError, .dropped(notification: "waiting", observers: [token.id]))
        }
        resume.signal()
        try worker.stopAndWait()
    }

    func testAWaitDoesNotIncludeDeliveredObserversOrTransformsThatReturnNil() throws {
        let center = ThreadedNotificationCenter()
        let (first, second) = (try RunLoopThread.started("first"), try RunLoopThread.started("second"))
        let nothing = center.addObserver(forName: posted, on: first, transform: { _ -> Int? in nil }, using: { _ in })
        let resume = try second.keptBusy()
        let outcome = Locked<String?>(nil)
        let hasBegun = DispatchSemaphore(value: 0)
        let tokens = [
            center.addObserver(forName: posted, on: first) { [timeout] _ in
                // This block runs after the handler, when main waits for the second thread only.
                Thread.posting(1) {
                    try? first.perform {
                        hasBegun.signal()
                        do {
                            try TargetThread.main.performAndWait(timeout: timeout) {}
                            outcome.withLock { $0 = "done" }
                        } catch {
                            outcome.withLock { $0 = "\(error)" }
                        }
                    }
                }.wait()
            }, center.addObserver(forName: posted, on: second) { _ in },
        ]
        let poster = Thread.posting(1) {
            hasBegun.wait()
            for _ in 0..<1000 { sched_yield() }
            resume.signal()
        }
        XCTAssertEqual(try center.postAndWait(note, timeout: timeout), DeliveryCounters(delivered: 2))
        poster.wait()
        while outcome.withLock({ $0 }) == nil { RunLoop.runCurrentOnce() }
        XCTAssertEqual(outcome.withLock { $0 }, "done")
        for token in tokens + [nothing] { token.cancel() }
        try first.stopAndWait()
        try second.stopAndWait()
    }
}
