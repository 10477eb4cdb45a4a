import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Dequeuing removes similar notifications of all posting styles and modes.
final class PostingDequeueTests: XCTestCase {
    func testANotificationThatIsBeingPostedIsNotDequeued() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        timeline.when("a") { timeline.note("\(queue.dequeue("a", on: .onName))") }
        queue.put("a", .now)
        queue.put("a", .asap)
        queue.put("a", .whenIdle)
        XCTAssertTrue(RunLoop.runCurrent { timeline.count("a") == 2 })
        XCTAssertEqual(timeline.entries, ["a", "0", "a", "1"])
        XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 2, cancelled: 1))
    }

    func testAHandlerDequeuesTheNextOfItsBatch() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        timeline.when("1") { XCTAssertEqual(queue.dequeue("2", on: .onName), 1) }
        for number in 1...3 { queue.put("\(number)", .asap) }
        RunLoop.pollCurrent()
        XCTAssertEqual(timeline.entries, ["1", "3"])
    }

    func testAnotherThreadDequeues() throws {
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline, on: worker)
        for (style, name) in NotificationQueue.PostingStyle.all {
            queue.put(name, style, from: "me")
            queue.put(name, style, from: "you")
        }
        XCTAssertEqual(queue.dequeue("any", from: "me", on: .onSender), 3)
        XCTAssertEqual(queue.dequeue("idle", on: .onName), 1)
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(timeline.entries, ["now", "asap"])
        XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 2, cancelled: 4))
    }

    func testARunLoopKeepsWaitingWhenItsOnlyNotificationIsDequeued() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for (style, name) in NotificationQueue.PostingStyle.all where style != .now {
                queue.put(name, style)
                XCTAssertEqual(queue.dequeue(name, on: .onName), 1)
            }
            RunLoop.addTimer(after: 0.01) {
                timeline.note("timer")
                RunLoop.stopCurrent()
            }
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            XCTAssertEqual(timeline.entries, ["timer"])
        }
    }
}
