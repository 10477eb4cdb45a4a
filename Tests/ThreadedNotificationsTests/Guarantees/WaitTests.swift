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
        for round in 1...50 {
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
        for _ in 0..<TestRounds.rounds(30, stress: 10_000) {
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

    func testATimeoutNamesWhatIsPendingAndTheHandlerThatRunsAndTheNotificationIsStillDelivered() throws {
        let (center, other) = (ThreadedNotificationCenter(), ThreadedNotificationCenter())
        let (worker, slow) = (try RunLoopThread.started("worker"), Notification.Name("slow"))
        let (isRunning, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let busy = other.addObserver(forName: slow, on: worker, file: "p/main.swift", line: 8) { _ in
            isRunning.signal()
            mayReturn.wait()
        }
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        other.post(name: slow)
        isRunning.wait()
        // A negative timeout counts as zero.
        for timeout in [Duration.zero, .seconds(-5)] {
            let calls: [() throws -> Void] = [
                { [note] in try center.postAndWait(note, timeout: timeout) },
                { try worker.performAndWait(timeout: timeout) {} },
            ]
            for (call, observer) in zip(calls, [token.id, nil]) {
                XCTAssertThrowsError(try call()) {
                    let pending = ($0 as? DeliveryError)?.pending.first
                    XCTAssertEqual(pending?.observer, observer)
                    XCTAssertEqual(pending?.thread, "\(worker.identity!)")
                    XCTAssertEqual(pending?.running.map(\.observer), [busy.id])
                    let named = "runs the handler of observer \(busy.id) of slow, which was added at p/main.swift:8."
                    XCTAssertTrue("\($0)".contains(named), "\($0)")
                }
            }
        }
        mayReturn.signal()
        // The longest timeout does not overflow.
        try worker.performAndWait(timeout: .seconds(Int64.max)) {}
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(delivered: 2))
    }

    func testTheEndOfAThreadThatRunsNoRunLoopEndsTheWaitsForIt() throws {
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
        DeliveryEvent.tracer = { if $0.stage == .append { resume.signal() } }
        defer { DeliveryEvent.tracer = nil }
        XCTAssertThrowsError(try center.postAndWait(note, timeout: timeout)) {
            XCTAssertEqual(($0 as? DeliveryError)?.code, .threadEnded)
        }
        XCTAssertEqual(token.withLock { $0 }?.counters, .init(targetGone: 1))
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

    func testAWaitingPostReturnsAfterARunningHandlerWhoseObserverIsRemovedAndItsRelease() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for round in 0..<TestRounds.rounds(50, stress: 1000) {
            let (token, isReleased) = (Locked<ObserverToken?>(nil), Atomic<Bool>.Box(false))
            func observe() -> ObserverToken {
                let recorder = ReleaseRecorder { isReleased.value.store(true, ordering: .releasing) }
                return center.addObserver(forName: posted, on: worker) { _ in
                    let remove: @Sendable () -> Void = { token.withLock { $0 }?.cancel() }
                    // Removed by its own handler, or on another thread.
                    if round % 2 == 0 { Thread.posting(1, remove).wait() } else { remove() }
                    withExtendedLifetime(recorder) {}
                }
            }
            let observer = observe()
            token.withLock { $0 = observer }
            XCTAssertEqual(try center.postAndWait(note, timeout: timeout), DeliveryCounters(delivered: 1))
            XCTAssertTrue(isReleased.value.load(ordering: .acquiring), "the handler still runs, or is not released")
        }
        try worker.stopAndWait()
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
