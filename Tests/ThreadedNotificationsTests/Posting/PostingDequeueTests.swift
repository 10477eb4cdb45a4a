import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

/// Dequeuing removes similar notifications of all posting styles and modes.
final class PostingDequeueTests: XCTestCase {
    private static let own = RunLoop.Mode("own")

    func testOnNameOnSenderOnBothAndOnNone() {
        let left: [(NotificationQueue.NotificationCoalescing, Int, [String])] = [
            (.onName, 4, ["b"]), (.onSender, 3, ["a", "a"]), ([.onName, .onSender], 2, ["a", "b", "a"]),
            ([], 0, ["a", "a", "b", "a", "a"]),
        ]
        for (mask, count, expected) in left {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for (name, sender) in [("a", 1), ("a", 2), ("b", 1), ("a", nil), ("a", 1)] {
                queue.put(name, .asap, from: sender)
            }
            XCTAssertEqual(queue.dequeue("a", from: 1, on: mask), count)
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, expected)
            XCTAssertEqual(
                queue.counters, DeliveryCounters(delivered: expected.count, cancelled: count))
        }
    }

    func testWithEachStyleAndInEachMode() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for (style, _) in NotificationQueue.PostingStyle.all {
                for modes in [nil, [], [.common], [Self.own], [.default, Self.own]] as [[RunLoop.Mode]?] {
                    queue.put("a", style, in: modes)
                }
            }
            // Four of the now notifications are posted; the one for another mode waits.
            XCTAssertEqual(timeline.entries, ["a", "a", "a", "a"])
            XCTAssertEqual(queue.dequeue("a", on: .onName), 11)
            queue.put("over", .whenIdle, in: [Self.own])
            XCTAssertTrue(RunLoop.runCurrent(in: Self.own) { timeline.has("over") })
            XCTAssertEqual(timeline.entries, ["a", "a", "a", "a", "over"])
            XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 5, cancelled: 11))
        }
    }

    func testTwiceFindsNothing() {
        let queue = PostingQueue(center: PostingTimeline())
        XCTAssertEqual(queue.dequeue("a", on: .onName), 0)
        queue.put("a", .asap)
        XCTAssertEqual(queue.dequeue("a", on: .onName), 1)
        XCTAssertEqual(queue.dequeue("a", on: .onName), 0)
    }

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
