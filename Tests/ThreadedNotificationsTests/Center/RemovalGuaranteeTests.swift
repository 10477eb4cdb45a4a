import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let guarantee = Notification.Name("guarantee")

private func number(_ value: Int) -> Notification { Notification(name: guarantee, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantees 6 to 8 of the article *Order and Guarantees*: removal.
final class RemovalGuaranteeTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testGuarantee06AfterCancelReturnsNoDeliveryBegins() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for round in 0..<TestRounds.rounds(100, stress: 500) {
            let isCancelled = Atomic<Bool>.Box(false)
            let beganAfterwards = Atomic<Bool>.Box(false)
            let token = center.addObserver(
                forName: guarantee, on: round % 2 == 0 ? worker.targetThread : .postingThread
            ) {
                _ in
                if isCancelled.value.load(ordering: .acquiring) {
                    beganAfterwards.value.store(true, ordering: .relaxed)
                }
            }
            let poster = Thread.posting(4) { center.post(name: guarantee) }
            try token.cancelAndWait(timeout: timeout)
            isCancelled.value.store(true, ordering: .releasing)
            poster.wait()
            try worker.performAndWait(timeout: timeout) {}
            XCTAssertFalse(beganAfterwards.value.load(ordering: .relaxed))
            let counts = token.counters
            XCTAssertEqual(counts.total, counts.delivered + counts.cancelled)
        }
        try worker.stopAndWait()
    }

    func testGuarantee06AfterCancelAndWaitNoHandlerRuns() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isRunning = Atomic<Bool>(false)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in
            isRunning.store(true, ordering: .relaxed)
            hasBegun.signal()
            resume.wait()
            isRunning.store(false, ordering: .relaxed)
        }
        center.post(name: guarantee)
        center.post(name: guarantee)
        hasBegun.wait()
        token.cancel()
        XCTAssertTrue(isRunning.load(ordering: .relaxed), "cancel does not wait")
        XCTAssertThrowsError(try token.cancelAndWait(timeout: .zero)) {
            XCTAssertEqual($0 as? DeliveryError, .handlerStillRunning(observer: token.id, after: .zero))
        }
        resume.signal()
        try token.cancelAndWait(timeout: timeout)
        XCTAssertFalse(isRunning.load(ordering: .relaxed))
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(delivered: 1, cancelled: 1))
    }

    func testGuarantee06AHandlerMayRemoveItselfAndWait() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for thread in [worker.targetThread, .postingThread] {
            let token = Locked<ObserverToken?>(nil)
            let outcome = Locked<[String]>([])
            let observer = center.addObserver(forName: guarantee, on: thread) { [timeout] _ in
                do {
                    try token.withLock { $0 }?.cancelAndWait(timeout: timeout)
                    outcome.withLock { $0.append("removed") }
                } catch {
                    outcome.withLock { $0.append("\(error)") }
                }
                center.post(name: guarantee)
            }
            token.withLock { $0 = observer }
            center.post(name: guarantee)
            center.post(name: guarantee)
            try worker.performAndWait(timeout: timeout) {}
            XCTAssertEqual(outcome.withLock { $0 }, ["removed"])
        }
        try worker.stopAndWait()
    }

    // Under the thread sanitizer this is also a test of the semaphores that the handler's thread signals.
    func testGuarantee06SeveralThreadsAndTasksWaitForOneHandler() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let isWaiting = DispatchSemaphore(value: 0)
        DeliveryEvent.tracer = { if $0.stage == .wait { isWaiting.signal() } }
        defer { DeliveryEvent.tracer = nil }
        for _ in 0..<TestRounds.rounds(20, stress: 500) {
            let (began, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let isOver = Atomic<Bool>.Box(false)
            let token = center.addObserver(forName: guarantee, on: worker) { _ in
                began.signal()
                mayReturn.wait()
                isOver.value.store(true, ordering: .relaxed)
            }
            center.post(name: guarantee)
            began.wait()
            let returned = DispatchGroup()
            @Sendable func check(_ error: (any Error)?) {
                XCTAssertNil(error)
                XCTAssertTrue(isOver.value.load(ordering: .relaxed))
                returned.leave()
            }
            for _ in 0..<3 {
                returned.enter()
                Thread.detachNewThread { [timeout] in
                    do { try token.cancelAndWait(timeout: timeout) } catch { return check(error) }
                    check(nil)
                }
                returned.enter()
                Task.detached { [timeout] in
                    do { try await token.cancelAndWait(timeout: timeout) } catch { return check(error) }
                    check(nil)
                }
            }
            for _ in 0..<3 { isWaiting.wait() }
            mayReturn.signal()
            returned.wait()
        }
        DeliveryEvent.tracer = nil
        try worker.stopAndWait()
    }

    func testGuarantee06ADroppedTokenCancelsAndCancellingTwiceIsHarmless() throws {
        let center = ThreadedNotificationCenter()
        let handled = Atomic<Int>(0)
        var token: ObserverToken? = center.addObserver(forName: guarantee, on: .postingThread) { _ in
            handled.add(1, ordering: .relaxed)
        }
        center.post(name: guarantee)
        XCTAssertNotNil(token)
        token = nil
        center.post(name: guarantee)
        XCTAssertEqual(handled.load(ordering: .relaxed), 1)
        XCTAssertEqual(center.registrations.observers, 0)

        let one = center.addObserver(forName: guarantee, on: .postingThread) { _ in }
        one.cancel()
        let other = center.addObserver(forName: guarantee, on: .postingThread) { _ in handled.add(1, ordering: .relaxed)
        }
        one.cancel()
        try one.cancelAndWait(timeout: timeout)
        XCTAssertNotEqual(one.id, other.id)
        XCTAssertEqual(center.post(name: guarantee).delivered, 1, "another observer was removed")
        other.cancel()
    }

    func testGuarantee07ANewObserverNeverGetsOlderNotifications() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[String]>([])
        @Sendable func observe(_ name: String) -> ObserverToken {
            center.addObserver(forName: guarantee, on: .current, transform: number(of:)) { value in
                handled.withLock { $0.append("\(name) \(value)") }
            }
        }
        let old = observe("old")
        let poster = Thread.posting(1) { _ = center.post(number(1)) }
        poster.wait()
        old.cancel()
        let new = observe("new")
        Thread.posting(1) { _ = center.post(number(2)) }.wait()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, ["new 2"])
        XCTAssertEqual(old.counters, .init(cancelled: 1))
        XCTAssertEqual(new.counters, .init(delivered: 1))
    }

    func testGuarantee08AHandlerMayPostAddRemovePerformAndWait() throws {
        let center = ThreadedNotificationCenter()
        let (worker, other) = (try RunLoopThread.started("worker"), try RunLoopThread.started("other"))
        let inner = Notification.Name("inner")
        let log = Locked<[String]>([])
        let innerToken = center.addObserver(forName: inner, on: other) { _ in log.withLock { $0.append("inner") } }
        let token = center.addObserver(forName: guarantee, on: worker) { [timeout] _ in
            let added = center.addObserver(forName: inner, on: .postingThread) { _ in
                log.withLock { $0.append("added") }
            }
            do {
                try center.postAndWait(Notification(name: inner), timeout: timeout)
                let value = try other.performAndWait(timeout: timeout) { 42 }
                log.withLock { $0.append("\(value)") }
                try worker.perform { log.withLock { $0.append("performed") } }
            } catch {
                log.withLock { $0.append("\(error)") }
            }
            added.cancel()
        }
        // The tracer is foreign code too, and may post.
        let traced = Notification.Name("traced")
        let tracedToken = center.addObserver(forName: traced, on: .postingThread) { _ in }
        DeliveryEvent.tracer = { event in if event.name == inner { center.post(name: traced) } }
        center.post(name: guarantee)
        try worker.performAndWait(timeout: timeout) {}
        DeliveryEvent.tracer = nil
        try worker.stopAndWait()
        try other.stopAndWait()
        XCTAssertEqual(log.withLock { $0.sorted() }, ["42", "added", "inner", "performed"])
        XCTAssertGreaterThan(tracedToken.counters.delivered, 0)
        XCTAssertEqual(token.counters.delivered, 1)
        XCTAssertEqual(innerToken.counters.delivered, 1)
    }

    func testGuarantee06ADeinitThatTheHandlerCausesMayRemoveTheObserverAndWait() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let owner = Owner()
        let token = Locked<ObserverToken?>(nil)
        owner.object = DeinitCaller { [timeout] in
            do {
                try token.withLock { $0 }?.cancelAndWait(timeout: timeout)
                log.withLock { $0.append("removed") }
            } catch {
                log.withLock { $0.append("\(error)") }
            }
        }
        let observer = center.addObserver(owner.object!, forName: guarantee, on: .current) { _, _ in owner.object = nil
        }
        token.withLock { $0 = observer }
        XCTAssertEqual(center.post(name: guarantee), DeliveryCounters(delivered: 1))
        XCTAssertEqual(log.withLock { $0 }, ["removed"])
        XCTAssertEqual(observer.counters, .init(delivered: 1))
    }
}

/// Calls a block when it is deallocated.
private final class DeinitCaller {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) {
        self.body = body
    }

    deinit { body() }
}

private final class Owner {
    var object: DeinitCaller?
}
