import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted in WaitTests")

private func number(_ value: Int) -> Notification { Notification(name: posted, object: value) }

/// Guarantee 13: every wait ends, with the deliveries, the end of the thread, a removal or the timeout.
final class WaitTests: XCTestCase {
    private let timeout = TestTimeout.hang

    private let note = Notification(name: posted)

    func testAWaitingPostReturnsWhenEveryObserverHasHandledIt() throws {
        let center = ThreadedNotificationCenter()
        let threads = try (0..<3).map { try RunLoopThread.started("target \($0)") }
        let handled = Atomic<Int>(0)
        let targets: [TargetThread] =
            threads.map(\.targetThread) + threads.map(\.targetThread) + [MainThread.main.targetThread, .postingThread]
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

    func testRemovalsWhileAWaitBeginsDoNotEndItForTheOtherObservers() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let waitBegins = DispatchSemaphore(value: 0)
        DeliveryEvent.tracer = { if $0.stage == .wait { waitBegins.signal() } }
        defer { DeliveryEvent.tracer = nil }
        for _ in 0..<TestRounds.rounds(100, stress: 10_000) {
            let tokens = (0..<20).map { _ in center.addObserver(forName: posted, on: worker) { _ in } }
            let remover = Thread.posting(1) {
                waitBegins.wait()
                for token in tokens.dropLast() { token.cancel() }
            }
            XCTAssertNoThrow(try center.postAndWait(note, timeout: timeout))
            XCTAssertEqual(tokens.last?.counters, .init(delivered: 1))
            remover.wait()
        }
        DeliveryEvent.tracer = nil
        try worker.stopAndWait()
    }

    func testATimeoutNamesPendingDeliveriesAndTheNotificationIsStillDelivered() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        XCTAssertThrowsError(try center.postAndWait(note, timeout: .zero)) {
            let pending = DeliveryError.Pending(
                notification: posted.rawValue, observer: token.id, thread: "\(worker.identity!)")
            XCTAssertEqual($0 as? DeliveryError, .notDeliveredInTime(pending: [pending], after: .zero))
            XCTAssertTrue("\($0)".contains("\(posted.rawValue) to observer \(token.id) on {number = "), "\($0)")
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
        XCTAssertThrowsError(try center.postAndWait(note, timeout: .zero)) {
            let error = $0 as? DeliveryError
            XCTAssertEqual(error?.code, .notDeliveredInTime, "\($0)")
            XCTAssertEqual(error?.pending.count, 1)
        }
        XCTAssertEqual(token.withLock { $0 }?.counters, .init(waiting: 1))

        // The end of the thread ends the waits for it, and the notifications are counted.
        let isWaiting = DispatchSemaphore(value: 0)
        DeliveryEvent.tracer = { if $0.stage == .append { isWaiting.signal() } }
        defer { DeliveryEvent.tracer = nil }
        let error = Locked<DeliveryError?>(nil)
        let waiting = Thread.posting(1) { [timeout] in
            do throws(DeliveryError) {
                try center.postAndWait(Notification(name: posted), timeout: timeout)
            } catch let ended {
                error.withLock { $0 = ended }
            }
        }
        isWaiting.wait()
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
            XCTAssertEqual($0 as? DeliveryError, .dropped(notification: posted.rawValue, observers: [token.id]))
        }
        resume.signal()
        try worker.stopAndWait()
    }

    func testAWaitingPostReturnsAfterARunningHandlerWhoseObserverIsRemovedAndItsRelease() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let other = try RunLoopThread.started("other")
        for round in 0..<200 {
            // Removed by its own handler, or on another thread.
            let isRemovedByOther = round % 4 == 0
            let (token, isReleased) = (Locked<ObserverToken?>(nil), Atomic<Bool>.Box(false))
            func observe() -> ObserverToken {
                let recorder = ReleaseRecorder { isReleased.value.store(true, ordering: .releasing) }
                return center.addObserver(forName: posted, on: worker) { [timeout] _ in
                    let remove: @Sendable () -> Void = { token.withLock { $0 }?.cancel() }
                    if isRemovedByOther {
                        do { try other.performAndWait(timeout: timeout, remove) } catch { XCTFail("\(error)") }
                    } else {
                        remove()
                    }
                    withExtendedLifetime(recorder) {}
                }
            }
            let observer = observe()
            token.withLock { $0 = observer }
            XCTAssertEqual(try center.postAndWait(note, timeout: timeout), DeliveryCounters(delivered: 1))
            XCTAssertTrue(isReleased.value.load(ordering: .acquiring), "the handler still runs, or is not released")
            XCTAssertEqual(observer.counters, .init(delivered: 1))
        }
        try worker.stopAndWait()
        try other.stopAndWait()
    }

    func testRemovingAnObserverEndsTheWaitForADeliveryThatHasNotBegun() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        let isWaiting = DispatchSemaphore(value: 0)
        DeliveryEvent.tracer = { if $0.stage == .append { isWaiting.signal() } }
        defer { DeliveryEvent.tracer = nil }
        let remover = Thread.posting(1) {
            isWaiting.wait()
            token.cancel()
        }
        // The worker is kept busy until the post has returned.
        XCTAssertEqual(try center.postAndWait(number(1), timeout: timeout), DeliveryCounters(cancelled: 1))
        remover.wait()
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(cancelled: 1))
    }
}

@Sendable private func endThread() { Thread.exit() }
