import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted in RemovalTests")

/// Guarantee 6: after a removal returned, nothing is delivered to the observer.
final class RemovalTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAfterCancelReturnsNoDeliveryBegins() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for round in 0..<TestRounds.rounds(100, stress: 500) {
            let isCancelled = Atomic<Bool>.Box(false)
            let beganAfterwards = Atomic<Bool>.Box(false)
            let token = center.addObserver(
                forName: posted, on: round % 2 == 0 ? worker.targetThread : .postingThread
            ) { _ in
                if isCancelled.value.load(ordering: .acquiring) {
                    beganAfterwards.value.store(true, ordering: .relaxed)
                }
            }
            let poster = Thread.posting(4) { center.post(name: posted) }
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

    func testAfterCancelAndWaitNoHandlerRuns() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isRunning = Atomic<Bool>(false)
        let token = center.addObserver(forName: posted, on: worker) { _ in
            isRunning.store(true, ordering: .relaxed)
            hasBegun.signal()
            resume.wait()
            isRunning.store(false, ordering: .relaxed)
        }
        center.post(name: posted)
        center.post(name: posted)
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

    func testAHandlerOrTransformMayRemoveItsObserverAndWait() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for isTransform in [true, false] {
            for thread in [worker.targetThread, .postingThread] {
                let token = Locked<ObserverToken?>(nil)
                let outcome = Locked<[String]>([])
                let remove: @Sendable () -> Void = { [timeout] in
                    do {
                        try token.withLock { $0 }?.cancelAndWait(timeout: timeout)
                        outcome.withLock { $0.append("removed") }
                    } catch {
                        outcome.withLock { $0.append("\(error)") }
                    }
                    center.post(name: posted)
                }
                let observer = center.addObserver(
                    forName: posted, on: thread,
                    transform: { _ in
                        if isTransform { remove() }
                        return 1
                    }, using: { _ in if !isTransform { remove() } })
                token.withLock { $0 = observer }
                for _ in 1...2 { center.post(name: posted) }
                try worker.performAndWait(timeout: timeout) {}
                XCTAssertEqual(outcome.withLock { $0 }, ["removed"])
                XCTAssertEqual(observer.counters.delivered, isTransform ? 0 : 1)
            }
        }
        try worker.stopAndWait()
    }

    // Under the thread sanitizer this is also a test of the semaphores that the handler's thread signals.
    func testSeveralThreadsAndTasksWaitForOneHandler() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let isWaiting = DispatchSemaphore(value: 0)
        DeliveryEvent.tracer = { if $0.stage == .wait { isWaiting.signal() } }
        defer { DeliveryEvent.tracer = nil }
        for _ in 0..<TestRounds.rounds(20, stress: 500) {
            let (began, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let isOver = Atomic<Bool>.Box(false)
            let token = center.addObserver(forName: posted, on: worker) { _ in
                began.signal()
                mayReturn.wait()
                isOver.value.store(true, ordering: .relaxed)
            }
            center.post(name: posted)
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

    func testADroppedTokenCancelsAndCancellingTwiceRemovesNoOther() throws {
        let center = ThreadedNotificationCenter()
        var token: ObserverToken? = center.addObserver(forName: posted, on: .postingThread) { _ in }
        XCTAssertEqual(center.post(name: posted).delivered, 1)
        XCTAssertNotNil(token)
        token = nil
        XCTAssertEqual(center.post(name: posted), DeliveryCounters())
        XCTAssertEqual(center.observers.count, 0)

        let one = center.addObserver(forName: posted, on: .postingThread) { _ in }
        one.cancel()
        let other = center.addObserver(forName: posted, on: .postingThread) { _ in }
        one.cancel()
        try one.cancelAndWait(timeout: timeout)
        XCTAssertEqual(center.post(name: posted).delivered, 1, "another observer was removed")
        other.cancel()
    }
}
