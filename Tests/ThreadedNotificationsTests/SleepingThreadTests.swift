import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in SleepingThreadTests")

/// A thread that sleeps until something is posted leaves its run loop's own meaning as it is.
final class SleepingThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testARunInAHandlerReturnsForTheNextNotificationAndNotForTheOneThatIsHandled() throws {
        let thread = try RunLoopThread.started("sleeping")
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
        let thread = try RunLoopThread.started("sleeping")
        let wasPerformed = MonotonicSemaphore()
        // It wakes no run loop, so a thread that slept again would never perform it.
        try thread.perform { RunLoop.current.perform { wasPerformed.signal() } }
        XCTAssertTrue(wasPerformed.wait(until: .after(timeout)))
        try thread.stopAndWait()
    }

    func testAThreadThatIsStoppedInARunOfAHandlerOrBeforeItEndsAfterIt() throws {
        for isStoppedBefore in [false, true] {
            let thread = try RunLoopThread.started("sleeping")
            let mayReturn = Locked(false)
            let (isInHandler, isStopped) = (MonotonicSemaphore(), MonotonicSemaphore())
            try thread.perform {
                isInHandler.signal()
                if isStoppedBefore {
                    isStopped.wait()
                    _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                }
                while !isStoppedBefore, !mayReturn.withLock({ $0 }) {
                    _ = RunLoop.current.run(mode: .default, before: .distantFuture)
                }
            }
            XCTAssertTrue(isInHandler.wait(until: .after(timeout)))
            try thread.perform { mayReturn.withLock { $0 = true } }
            thread.stop()
            isStopped.signal()
            try thread.waitUntilFinished(timeout: timeout)
        }
    }
}
