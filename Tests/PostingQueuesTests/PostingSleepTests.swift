import CoreFoundation
import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Idle detection costs passes of the run loop, but only while idle notifications wait.
final class PostingSleepTests: XCTestCase {
    func testARunLoopSleepsWhileNoIdleNotificationWaits() throws {
        let thread = try RunLoopThread.started("sleeping")
        let center = NotificationCenter()
        let posted = Locked(false)
        let name = Notification.Name("idle")
        _ = center.addObserver(forName: name, object: nil, queue: nil) { _ in posted.withLock { $0 = true } }
        try thread.performAndWait(timeout: TestTimeout.hang) {
            PostingQueue(center: center, on: thread).enqueue(Notification(name: name), postingStyle: .whenIdle)
            let limit = Date(timeIntervalSinceNow: TestTimeout.seconds)
            while !posted.withLock({ $0 }), limit.timeIntervalSinceNow > 0 {
                _ = RunLoop.current.run(mode: .default, before: limit)
            }
            XCTAssertTrue(posted.withLock { $0 })
            // Earlier wake-ups have no effect later.
            RunLoop.runCurrentOnce()
            let end = RunLoopSource {}
            end.add(to: .current, mode: .default)
            let runLoop = RunLoopReference.current
            let announcements = Locked(0)
            let observer = RunLoopObserver { activity in
                guard activity == .beforeWaiting else { return }
                announcements.withLock { $0 += 1 }
                // A run loop that does not sleep would have made passes by then.
                DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) {
                    end.signal()
                    runLoop.wakeUp()
                }
            }
            observer.add(to: .current, mode: .default)
            _ = RunLoop.current.run(mode: .default, before: limit)
            observer.invalidate()
            XCTAssertEqual(announcements.withLock { $0 }, 1)
        }
        try thread.stopAndWait()
    }
}
