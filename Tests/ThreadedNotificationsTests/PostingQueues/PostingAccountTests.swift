import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The reports, counters and events of a queue.
final class PostingAccountTests: XCTestCase {
    private static let own = RunLoop.Mode("own")

    // MARK: Reports

    func testANotificationThatAnEarlierHandlerRemovesIsDequeued() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        timeline.when("elsewhere") { XCTAssertEqual(queue.dequeue("here", on: .onName), 1) }
        Thread.posting(1) { queue.put("elsewhere", .now) }.wait()
        XCTAssertEqual(queue.put("here", .now), EnqueueReport(outcome: .cancelled, removed: 0))
        XCTAssertEqual(timeline.entries, ["elsewhere"])
    }

    func testReportsAndCountersHaveDescriptions() {
        let queue = PostingQueue(center: PostingTimeline())
        XCTAssertEqual("\(queue.counters)", "none")
        XCTAssertEqual("\(queue.put("a", .asap))", "waiting")
        queue.put("a", .asap)
        XCTAssertEqual("\(queue.put("a", .asap, on: .onName, keeping: .earliest))", "coalesced, 1 removed")
        XCTAssertEqual("\(queue.put("a", .now, on: .onName))", "posted, 1 removed")
        queue.put("a", .asap)
        _ = queue.dequeue("a", on: .onName)
        queue.put("a", .asap)
        XCTAssertEqual("\(queue.counters)", "6: delivered 1, waiting 1, coalesced 3, cancelled 1")
        _ = queue.dequeue("a", on: .onName)
    }

    // MARK: Events

    func testEachStageIsTracedWithTheNumberOfItsPost() throws {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        let here = ThreadIdentity.current
        let events = try tracing {
            queue.put("first", .asap)
            queue.put("second", .asap)
            queue.put("third", .whenIdle)
            queue.put("first", .asap, on: .onName)
            queue.put("second", .asap, on: .onName, keeping: .earliest)
            XCTAssertEqual(queue.dequeue("third", on: .onName), 1)
            queue.put("now", .now)
            RunLoop.pollCurrent()
        }
        let stages = events.filter { $0.name != nil }
        let first = stages.first?.post ?? 0
        XCTAssertGreaterThan(first, 0)
        XCTAssertEqual(
            stages.map { "\($0.stage) \($0.name?.rawValue ?? "") \($0.post - first + 1)" },
            [
                "enqueue first 1", "enqueue second 2", "enqueue third 3", "enqueue first 4", "coalesce first 1",
                "enqueue second 5", "coalesce second 5", "dequeue third 3", "enqueue now 6", "post now 6",
                "post second 2", "post first 4",
            ])
        XCTAssertTrue(stages.allSatisfy { $0.thread == here && $0.observer == 0 })
        XCTAssertTrue(stages.filter { $0.stage == .enqueue }.allSatisfy { $0.target == here })
        XCTAssertEqual(events.filter { $0.stage == .signal }.count, 0, "its own thread is not signalled")
    }

    func testEnqueuingOnAnotherThreadIsTracedThereAndSignalsTheQueuesThreadOnce() throws {
        let worker = try RunLoopThread.started("worker")
        let timeline = PostingTimeline()
        let events = try tracing {
            let resume = try worker.keptBusy()
            let queue = PostingQueue(center: timeline, on: worker)
            for number in 0..<3 { queue.put("\(number)", .asap) }
            worker.stop()
            resume.signal()
            try worker.stopAndWait()
        }
        let own = events.filter { timeline.has($0.name?.rawValue ?? "") }
        XCTAssertEqual(
            own.map { "\($0.stage) \($0.thread.name ?? "")" },
            Array(repeating: "enqueue main", count: 3) + Array(repeating: "post worker", count: 3))
        XCTAssertEqual(own.prefix(3).map(\.post), own.suffix(3).map(\.post))
        XCTAssertTrue(own.prefix(3).allSatisfy { $0.target == worker.identity })
        let enqueued = events.drop { $0.stage != .enqueue }.prefix { $0.stage != .post }
        XCTAssertEqual(
            enqueued.filter { $0.stage == .signal && $0.thread != worker.identity }.count, 2,
            "for the first that waits, and to stop")
    }

    func testAThreadedCentersDeliveriesHaveTheNumberOfTheEnqueuedPost() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let tokens = [
            center.addObserver(forName: nil, on: .current) { _ in },
            center.addObserver(forName: nil, on: worker) { (_: Notification) in },
        ]
        let events = try tracing {
            let queue = PostingQueue(center: center)
            queue.put("a", .asap)
            RunLoop.pollCurrent()
            queue.put("b", .now)
            try worker.stopAndWait()
        }
        for name in ["a", "b"] {
            let own = events.filter { $0.name?.rawValue == name }
            XCTAssertEqual(Set(own.map(\.post)).count, 1)
            XCTAssertEqual(own.filter { $0.stage == .enqueue }.count, 1)
            XCTAssertEqual(own.filter { $0.stage == .post }.count, 1)
            XCTAssertEqual(own.filter { $0.stage == .deliver }.count, 2)
            XCTAssertEqual(own.prefix(2).map(\.stage), [.enqueue, .post])
        }
        XCTAssertEqual(tokens.map(\.counters.delivered), [2, 2])
    }

    func testANotificationEnqueuedBeforeTracingBeganIsTracedWhenItIsPosted() throws {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        queue.put("a", .asap)
        let events = try tracing { RunLoop.pollCurrent() }
        XCTAssertEqual(events.filter { $0.name != nil }.map(\.stage), [.post])
        XCTAssertGreaterThan(events.first { $0.stage == .post }?.post ?? 0, 0)
    }
}
