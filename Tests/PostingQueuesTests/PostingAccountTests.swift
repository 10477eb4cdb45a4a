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

    func testEnqueuingReturnsTheOutcome() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        XCTAssertEqual(queue.put("a", .now), EnqueueReport(outcome: .delivered, removed: 0))
        XCTAssertEqual(queue.put("a", .asap), EnqueueReport(outcome: .waiting, removed: 0))
        XCTAssertEqual(
            queue.put("a", .whenIdle, on: .onName, keeping: .earliest), EnqueueReport(outcome: .coalesced, removed: 0))
        XCTAssertEqual(queue.put("a", .whenIdle, on: .onName), EnqueueReport(outcome: .waiting, removed: 1))
        XCTAssertEqual(queue.put("a", .now, on: .onName), EnqueueReport(outcome: .delivered, removed: 1))
    }

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

    // MARK: Counts

    func testTheCountsAddUpAfterEachStep() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            var generator = SeededGenerator(seed: 4)
            var removed = (coalesced: 0, dequeued: 0)
            let masks: [NotificationQueue.NotificationCoalescing] = [[], .onName, .onSender, [.onName, .onSender]]
            for step in 1...500 {
                let report = queue.put(
                    ["a", "b", "c"].randomElement(using: &generator)!,
                    NotificationQueue.PostingStyle.all.randomElement(using: &generator)!.style,
                    from: [nil, 1, "1"].randomElement(using: &generator)!, on: masks.randomElement(using: &generator)!,
                    keeping: Bool.random(using: &generator) ? .latest : .earliest,
                    in: [nil, [.common], [Self.own]].randomElement(using: &generator)!)
                removed.coalesced += report.removed + (report.outcome == .coalesced ? 1 : 0)
                if step % 7 == 0 {
                    removed.dequeued += queue.dequeue("a", from: 1, on: masks.randomElement(using: &generator)!)
                }
                if step % 11 == 0 { RunLoop.pollCurrent(in: step % 2 == 0 ? .default : Self.own) }
                let counts = queue.counters
                XCTAssertEqual(
                    counts,
                    DeliveryCounters(
                        delivered: timeline.entries.count,
                        waiting: step - timeline.entries.count - removed.coalesced - removed.dequeued,
                        coalesced: removed.coalesced, cancelled: removed.dequeued))
            }
            queue.put("end", .whenIdle)
            queue.put("end", .whenIdle, in: [Self.own])
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("end") })
            XCTAssertTrue(RunLoop.runCurrent(in: Self.own) { timeline.count("end") == 2 })
            XCTAssertEqual(queue.counters.waiting, 0)
            XCTAssertEqual(queue.counters.total, 502)
        }
    }

    func testAHandlerFindsItsNotificationCountedAsPosted() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        for (style, name) in NotificationQueue.PostingStyle.all {
            timeline.when(name) { timeline.note("\(queue.counters)") }
            queue.put(name, style)
        }
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
        XCTAssertEqual(
            timeline.entries,
            [
                "now", "1: delivered 1", "asap", "3: delivered 2, waiting 1", "idle",
                "3: delivered 3",
            ])
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
