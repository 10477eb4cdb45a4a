import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The centers that a queue may post to.
final class PostingCenterTests: XCTestCase {

    func testAQueuePostsToAFoundationCenterThatAThreadedOneCaptures() throws {
        let worker = try RunLoopThread.started("worker")
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let timeline = PostingTimeline()
        let token = center.addObserver(forName: Notification.Name("a"), on: worker) { _ in
            timeline.note(worker.isCurrent ? "there" : "elsewhere")
        }
        let queue = PostingQueue(center: foundation)
        queue.put("a", .asap)
        queue.put("a", .asap)
        RunLoop.pollCurrent()
        try worker.stopAndWait()
        XCTAssertEqual(timeline.entries, ["there", "there"])
        token.cancel()
    }

    func testObserversOfAThreadedCenterOnAllThreadsReceiveAllInOrder() throws {
        let workers = try (0..<3).map { try RunLoopThread.started("worker \($0)") }
        let center = ThreadedNotificationCenter()
        let timelines = workers.map { _ in PostingTimeline() }
        let (here, posting) = (PostingTimeline(), PostingTimeline())
        var tokens = zip(workers, timelines).map { worker, timeline in
            center.addObserver(forName: nil, on: worker) { notification in
                timeline.note(worker.isCurrent ? notification.name.rawValue : "elsewhere")
            }
        }
        tokens.append(center.addObserver(forName: nil, on: .current) { here.note($0.name.rawValue) })
        tokens.append(center.addObserver(forName: nil, on: .postingThread) { posting.note($0.name.rawValue) })
        let queue = PostingQueue(center: center)
        for number in 0..<100 { queue.put("idle \(number)", .whenIdle) }
        for number in 0..<100 { queue.put("asap \(number)", .asap) }
        for number in 0..<100 { queue.put("now \(number)", .now) }
        XCTAssertTrue(RunLoop.runCurrent { here.has("idle 99") })
        for worker in workers { try worker.stopAndWait() }
        let all = ["now", "asap", "idle"].flatMap { style in (0..<100).map { "\(style) \($0)" } }
        for timeline in timelines + [here, posting] { XCTAssertEqual(timeline.entries, all) }
        XCTAssertEqual(tokens.map(\.counters.delivered), Array(repeating: 300, count: 5))
    }

    func testObserversOfAThreadedCenterOnTheQueuesThreadAreCalledBeforeANowReturns() throws {
        let worker = try RunLoopThread.started("worker")
        let center = ThreadedNotificationCenter()
        let timeline = PostingTimeline()
        let tokens = [
            center.addObserver(forName: nil, on: worker) { timeline.note($0.name.rawValue) },
            center.addObserver(forName: nil, on: .main) { (_: Notification) in timeline.note("main") },
        ]
        try worker.performAndWait(timeout: TestTimeout.hang) {
            XCTAssertEqual(PostingQueue(center: center).put("a", .now).outcome, .delivered)
            timeline.note("returned")
        }
        XCTAssertEqual(timeline.entries, ["a", "returned"])
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("main") })
        try worker.stopAndWait()
        XCTAssertEqual(tokens.map(\.counters.delivered), [1, 1])
    }
}
