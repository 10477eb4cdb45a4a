import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The thread of a queue is woken, and its center may have observers on other threads.
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

    func testObserversOnAllThreadsReceiveAllInOrderAlsoThroughAFoundationCenter() throws {
        let workers = try (0..<2).map { try RunLoopThread.started("worker \($0)") }
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let (timelines, here) = (workers.map { _ in PostingTimeline() }, PostingTimeline())
        // Any name, and each of the names.
        let names = ["now", "asap", "idle"].flatMap { style in (0..<50).map { "\(style) \($0)" } }
        var tokens = names.map { name in
            center.addObserver(forName: Notification.Name(name), on: workers[0]) { timelines[0].note($0.name.rawValue) }
        }
        tokens.append(center.addObserver(forName: nil, on: workers[1]) { timelines[1].note($0.name.rawValue) })
        tokens.append(center.addObserver(forName: nil, on: .current) { here.note($0.name.rawValue) })
        for (count, queue) in [PostingQueue(center: center), PostingQueue(center: foundation)].enumerated() {
            for (style, name) in NotificationQueue.PostingStyle.all.reversed() {
                for number in 0..<50 { queue.put("\(name) \(number)", style) }
            }
            XCTAssertTrue(RunLoop.runCurrent { here.count("idle 49") == count + 1 })
        }
        for worker in workers { try worker.stopAndWait() }
        for timeline in timelines + [here] { XCTAssertEqual(timeline.entries, names + names) }
        for token in tokens { token.cancel() }
    }
}
