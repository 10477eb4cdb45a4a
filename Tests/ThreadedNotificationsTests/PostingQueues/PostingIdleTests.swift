import CoreFoundation
import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// A `whenIdle` notification is posted only when the run loop would wait. `RandomRunLoopTests` has the inputs that come
/// before it.
final class PostingIdleTests: XCTestCase {
    func testAnIdleNotificationWaitsForWhatAnotherThreadEnqueuesAfterTheRunLoopAnnouncedThatItWaits() throws {
        // The run loop announces it several times while it finds out whether it is idle.
        for late in ["asap", "block"] {
            for announcement in 1...3 { try wait(for: late, enqueuedAt: announcement) }
        }
    }

    private func wait(for late: String, enqueuedAt announcement: Int) throws {
        let timeline = PostingTimeline()
        let (thread, other) = (try RunLoopThread.started("late"), try RunLoopThread.started("other"))
        try thread.performAndWait(timeout: TestTimeout.hang) {
            let queue = PostingQueue(center: timeline, on: thread)
            queue.put("idle", .whenIdle)
            let announcements = Locked(0)
            // Called after the queue's observer, which was added before.
            let observer = RunLoopObserver { activity in
                guard activity == .beforeWaiting, !timeline.has("idle") else { return }
                let count = announcements.withLock { count in
                    count += 1
                    return count
                }
                guard count == announcement else { return }
                timeline.note("enqueues")
                _ = try? other.performAndWait(timeout: TestTimeout.hang) {
                    if late == "asap" {
                        queue.put(late, .asap)
                    } else {
                        try? thread.perform { timeline.note(late) }
                    }
                }
            }
            observer.add(to: .current, mode: .default)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            observer.invalidate()
        }
        XCTAssertEqual(
            timeline.entries, timeline.has("enqueues") ? ["enqueues", late, "idle"] : ["idle"], "\(announcement)")
        try thread.stopAndWait()
        try other.stopAndWait()
    }

    func testARunLoopSleepsWhenNoIdleNotificationWaitsAnyMore() throws {
        let thread = try RunLoopThread.started("sleeping")
        let timeline = PostingTimeline()
        try thread.performAndWait(timeout: TestTimeout.hang) {
            PostingQueue(center: timeline, on: thread).put("idle", .whenIdle)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            // Earlier wake-ups have no effect later.
            RunLoop.runCurrent(for: 0)
            let end = RunLoopSource {}
            end.add(to: .current, mode: .default)
            let runLoop = RunLoopReference.current
            let observer = RunLoopObserver { activity in
                guard activity == .beforeWaiting else { return }
                timeline.note("waits")
                DispatchQueue.global().async {
                    end.signal()
                    runLoop.wakeUp()
                }
            }
            observer.add(to: .current, mode: .default)
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds))
            observer.invalidate()
        }
        XCTAssertEqual(timeline.entries, ["idle", "waits"])
        try thread.stopAndWait()
    }
}
