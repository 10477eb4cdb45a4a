import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

/// The event that wakes a thread leaves the run loop's own meaning as it is.
final class MailboxEventTests: XCTestCase {
    private let timeout = TestTimeout.hang

    private func startedWithEvent(spins: Bool = true) throws -> RunLoopThread {
        let thread = RunLoopThread(name: "sleeping", spins: spins)
        try thread.start()
        let hasEvent = thread.mailbox.state.withLock { $0.event != nil }
        try XCTSkipUnless(hasEvent, "the thread is woken by sources")
        return thread
    }

    func testARunInAHandlerReturnsForTheNextNotificationAndNotForTheOneThatIsHandled() throws {
        let thread = try startedWithEvent()
        let center = ThreadedNotificationCenter()
        let (isInHandler, hasReturned) = (MonotonicSemaphore(), MonotonicSemaphore())
        let handled = Locked<[Int]>([])
        let whenReturned = Locked<[Int]?>(nil)
        let token = center.addObserver(forName: posted, on: thread) { notification in
            let number = notification.object as? Int ?? 0
            handled.withLock { $0.append(number) }
            guard number == 1 else { return }
            isInHandler.signal()
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            let soFar = handled.withLock { $0 }
            whenReturned.withLock { $0 = soFar }
            hasReturned.signal()
        }
        center.post(name: posted, object: 1)
        XCTAssertTrue(isInHandler.wait(until: .after(timeout)))
        center.post(name: posted, object: 2)
        XCTAssertTrue(hasReturned.wait(until: .after(timeout)))
        XCTAssertEqual(whenReturned.withLock { $0 }, [1, 2])
        withExtendedLifetime(token) {}
        try thread.stopAndWait()
    }

    func testThePassAfterAHandlerPerformsTheBlocksThatItGaveToTheRunLoop() throws {
        let thread = try startedWithEvent()
        let wasPerformed = MonotonicSemaphore()
        // It wakes no run loop, so a thread that slept again would never perform it.
        try thread.perform { RunLoop.current.perform { wasPerformed.signal() } }
        XCTAssertTrue(wasPerformed.wait(until: .after(timeout)))
        try thread.stopAndWait()
    }

    func testASleepingThreadServesItsTimersAndSources() throws {
        let thread = try startedWithEvent()
        let fired = MonotonicSemaphore()
        try thread.perform { RunLoop.current.add(.firingOnce { fired.signal() }, forMode: .default) }
        XCTAssertTrue(fired.wait(until: .after(timeout)), "timer")
        let source = RunLoopSource { fired.signal() }
        let runLoop = try thread.performAndWait(timeout: timeout) { RunLoopReference.current }
        source.add(to: runLoop, mode: .default)
        source.signal()
        runLoop.wakeUp()
        XCTAssertTrue(fired.wait(until: .after(timeout)), "source")
        try thread.stopAndWait()
    }

    func testAThreadThatIsStoppedInARunOfAHandlerEndsAfterIt() throws {
        let thread = try startedWithEvent()
        let mayReturn = Locked(false)
        let isInHandler = MonotonicSemaphore()
        try thread.perform {
            isInHandler.signal()
            while !mayReturn.withLock({ $0 }) { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
        }
        XCTAssertTrue(isInHandler.wait(until: .after(timeout)))
        try thread.perform { mayReturn.withLock { $0 = true } }
        try thread.stopAndWait()
    }

    func testARunInAHandlerReturnsIfTheThreadWasStoppedBefore() throws {
        let thread = try startedWithEvent()
        let (isInHandler, isStopped) = (MonotonicSemaphore(), MonotonicSemaphore())
        try thread.perform {
            isInHandler.signal()
            isStopped.wait()
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
        }
        XCTAssertTrue(isInHandler.wait(until: .after(timeout)))
        thread.stop()
        isStopped.signal()
        try thread.waitUntilFinished(timeout: timeout)
    }

    func testARunInABlockOfTheRunLoopEndsWithTheThread() throws {
        let thread = try startedWithEvent()
        let isInBlock = MonotonicSemaphore()
        // The run loop performs the inner block in a pass that has begun, and then announces that it will wait.
        try thread.perform {
            RunLoop.current.perform {
                RunLoop.current.perform {
                    isInBlock.signal()
                    _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                }
            }
        }
        XCTAssertTrue(isInBlock.wait(until: .after(timeout)))
        try thread.stopAndWait()
    }

    func testARunInTheLastDrainThatAnnouncesToWaitReturnsForItsInput() throws {
        // A drain that watches keeps its budget.
        let thread = try startedWithEvent(spins: false)
        let source = RunLoopSource {}
        let runLoop = try thread.performAndWait(timeout: timeout) { RunLoopReference.current }
        source.add(to: runLoop, mode: .default)
        let identity = try XCTUnwrap(thread.identity)
        // The drains before the last one deliver fewer than wait.
        thread.drainBudget = DrainBudget(deliveries: 1)
        let mayReturn = try thread.keptBusy()
        let hasAnnounced = Locked(false)
        let willWait = MonotonicSemaphore()
        let observer = RunLoopObserver(of: [.beforeWaiting]) { _ in
            hasAnnounced.withLock { $0 = true }
            willWait.signal()
        }
        let (isSignalled, returnedForNothing) = (Locked(false), Locked(0))
        for _ in 0..<10 { try thread.perform {} }
        try thread.perform {
            observer.add(to: .current, mode: .default)
            while !isSignalled.withLock({ $0 }) {
                // Before that, a signal of an earlier drain may be left.
                hasAnnounced.withLock { $0 = false }
                _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                let isForNothing = hasAnnounced.withLock { $0 } && !isSignalled.withLock { $0 }
                if isForNothing { returnedForNothing.withLock { $0 += 1 } }
            }
        }
        thread.stop()
        mayReturn.signal()
        XCTAssertTrue(willWait.wait(until: .after(timeout)))
        identity.waitUntilAsleep()
        isSignalled.withLock { $0 = true }
        source.signal()
        runLoop.wakeUp()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(returnedForNothing.withLock { $0 }, 0)
    }

    func testATimerOfTheSameThreadIsNotDelayedByNotificationsThatAlwaysFollow() throws {
        let thread = try startedWithEvent()
        let center = ThreadedNotificationCenter()
        let isOver = Locked(false)
        let fired = MonotonicSemaphore()
        let token = center.addObserver(forName: posted, on: thread) { [weak center] _ in
            guard let center, !isOver.withLock({ $0 }) else { return }
            DispatchQueue.global().async { center.post(name: posted) }
        }
        center.post(name: posted)
        try thread.perform { RunLoop.current.add(.firingOnce { fired.signal() }, forMode: .default) }
        XCTAssertTrue(fired.wait(until: .after(timeout)))
        isOver.withLock { $0 = true }
        withExtendedLifetime(token) {}
        try thread.stopAndWait()
    }
}

extension Timer {
    fileprivate static func firingOnce(_ body: @escaping @Sendable () -> Void) -> Timer {
        Timer(fire: .now, interval: 0, repeats: false) { _ in body() }
    }
}
