import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The thread of a queue is woken.
final class PostingThreadTests: XCTestCase {
    func testEnqueuingOnAnotherThreadWakesTheThread() throws {
        let worker = try RunLoopThread.started("worker")
        for (thread, isMain) in [(worker.targetThread, false), (MainThread.main.targetThread, true)] {
            for (style, name) in NotificationQueue.PostingStyle.all {
                for modes: [RunLoop.Mode]? in [nil, [.common], [.init("first used here \(name)"), .default]] {
                    let timeline = PostingTimeline()
                    let isPosted = expectation(description: name)
                    timeline.when(name) {
                        XCTAssertEqual([Thread.isMainThread, worker.isCurrent], [isMain, !isMain])
                        isPosted.fulfill()
                    }
                    let queue = PostingQueue(center: timeline, on: thread)
                    Thread.detachNewThread { queue.put(name, style, in: modes) }
                    wait(for: [isPosted], timeout: TestTimeout.seconds)
                    XCTAssertEqual(timeline.entries, [name])
                }
            }
        }
        try worker.stopAndWait()
    }
}
