import CoreFoundation
import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Another thread enqueues between the announcement of the run loop that it will wait and the post of an idle
/// notification.
final class PostingLateInputTests: XCTestCase {
    private let center = NotificationCenter()
    private let done = Locked<[String]>([])

    private func observe(_ name: String) {
        let done = done
        _ = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
            done.withLock { $0.append(name) }
        }
    }

    /// Lets another thread enqueue when the run loop is about to wait and idle detection has armed its probe.
    private func handOverLate(_ handOver: @escaping @Sendable (PostingQueue, RunLoopThread) -> Void) throws {
        observe("idle")
        let (center, done) = (center, done)
        let (thread, other) = (try RunLoopThread.started("late"), try RunLoopThread.started("other"))
        try thread.performAndWait(timeout: TestTimeout.hang) {
            let queue = PostingQueue(center: center, on: thread)
            queue.enqueue(Notification(name: Notification.Name("idle")), postingStyle: .whenIdle)
            let (isHandedOver, waits) = (Locked(false), Locked(0))
            // Called after the queue's observer, which was added before.
            let observer = RunLoopObserver { activity in
                // The second time idle detection has armed its probe.
                guard activity == .beforeWaiting else { return }
                let wait = waits.withLock { count in
                    count += 1
                    return count
                }
                guard wait == 2 else { return }
                let isFirst = isHandedOver.withLock { isHandedOver in
                    defer { isHandedOver = true }
                    return !isHandedOver
                }
                if isFirst { try? other.performAndWait(timeout: TestTimeout.hang) { handOver(queue, thread) } }
            }
            observer.add(to: .current, mode: .default)
            let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
            while !done.withLock({ $0.contains("idle") }), deadline.timeIntervalSinceNow > 0 {
                _ = RunLoop.current.run(mode: .default, before: deadline)
            }
            observer.invalidate()
            XCTAssertTrue(isHandedOver.withLock { $0 })
        }
        try thread.stopAndWait()
        try other.stopAndWait()
    }

    func testAnAsapNotificationComesBeforeIdleOnes() throws {
        observe("as soon as possible")
        try handOverLate { queue, _ in
            queue.enqueue(Notification(name: Notification.Name("as soon as possible")), postingStyle: .asap)
        }
        XCTAssertEqual(done.withLock { $0 }, ["as soon as possible", "idle"])
    }

    func testABlockComesBeforeIdleNotifications() throws {
        try handOverLate { [done] _, thread in
            try? thread.perform { done.withLock { $0.append("block") } }
        }
        XCTAssertEqual(done.withLock { $0 }, ["block", "idle"])
    }
}
