import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// When a queue's thread ends, waiting notifications are posted, or counted and traced as targetGone.
final class PostingThreadEndTests: XCTestCase {
    private static let own = RunLoop.Mode("own")
    private let limit = TestTimeout.hang

    func testAHandlerThatAlwaysEnqueuesAnotherDoesNotPreventTheEndOfItsThread() throws {
        let worker = try RunLoopThread.started("worker")
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline, on: worker)
        timeline.when("again") { queue.put("again", .asap) }
        queue.put("again", .asap)
        worker.stop()
        try worker.waitUntilFinished(timeout: limit)
        XCTAssertEqual(queue.counters.targetGone, 1)
        XCTAssertEqual(queue.counters.delivered + 1, queue.counters.total)
    }

    func testStoppingPostsNowAndAsapNotificationsAndTheRestIsCountedAndTracedOnce() throws {
        let worker = try RunLoopThread.started("worker")
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline, on: worker)
        let events = try tracing {
            let goOn = try worker.keptBusy()
            for (style, name) in NotificationQueue.PostingStyle.all {
                queue.put("own \(name)", style, in: [Self.own])
                queue.put(name, style)
            }
            worker.stop()
            goOn.signal()
            try worker.waitUntilFinished(timeout: limit)
            queue.put("late", .asap)
        }
        XCTAssertEqual(timeline.entries, ["now", "asap"])
        let gone = events.filter { $0.stage == .targetGone }
        XCTAssertEqual(
            gone.map { "\($0.name?.rawValue ?? "") \($0.thread.name ?? "")" },
            ["own now worker", "own asap worker", "own idle worker", "idle worker", "late main"])
        XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 2, targetGone: 5))
    }

    func testANotificationOfAnotherThreadIsPostedOrCountedWhileTheThreadEnds() throws {
        for _ in 0..<TestRounds.rounds(10, stress: 500) {
            let worker = try RunLoopThread.started("worker")
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline, on: worker)
            let gone = Atomic<Int>.Box(0)
            let enqueuing = Thread.posting(2) {
                for number in 0..<200 {
                    let style = NotificationQueue.PostingStyle.all[number % 3].style
                    let sender = number % 2 == 0 ? number % 10 : nil
                    if queue.put("a", style, from: sender).outcome == .targetGone {
                        gone.value.add(1, ordering: .relaxed)
                    }
                }
            }
            worker.stop()
            enqueuing.wait()
            try worker.waitUntilFinished(timeout: limit)
            XCTAssertEqual(queue.counters.total, 400)
            XCTAssertEqual(queue.counters.waiting, 0)
            XCTAssertEqual(queue.counters.delivered, timeline.entries.count)
            XCTAssertGreaterThanOrEqual(queue.counters.targetGone, gone.value.load(ordering: .relaxed))
        }
    }

    func testAThreadThatEndsInAHandlerCountsWaitingNotifications() throws {
        @Sendable func endThread() { Thread.exit() }
        for (style, name) in NotificationQueue.PostingStyle.all {
            let worker = try RunLoopThread.started("worker")
            let goOn = try worker.keptBusy()
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline, on: worker)
            timeline.when("ends", endThread)
            queue.put("ends", style)
            queue.put("asap", .asap)
            queue.put("idle", .whenIdle)
            queue.put("own", .now, in: [Self.own])
            goOn.signal()
            try worker.waitUntilFinished(timeout: limit)
            XCTAssertEqual(timeline.entries, style == .whenIdle ? ["asap", "ends"] : ["ends"], name)
            XCTAssertEqual(queue.counters.waiting, 0, name)
            XCTAssertEqual(queue.counters.targetGone, style == .whenIdle ? 2 : 3, name)
            XCTAssertEqual(queue.put("late", .asap).outcome, .targetGone)
        }
    }

    func testAThreadThatRunsNoRunLoopCountsWaitingNotifications() throws {
        let timeline = PostingTimeline()
        let queue = Locked<PostingQueue?>(nil)
        let thread = try SystemThread.start {
            let own = PostingQueue.default(for: timeline)
            for (style, name) in NotificationQueue.PostingStyle.all { own.put(name, style) }
            queue.withLock { $0 = own }
        }.get()
        XCTAssertTrue(thread.join(until: .after(limit)))
        XCTAssertEqual(timeline.entries, ["now"])
        XCTAssertEqual(queue.withLock { $0?.counters }, DeliveryCounters(delivered: 1, targetGone: 2))
    }

    func testAThreadThatNeverStartsCountsWaitingNotificationsWhenItIsStoppedOrReleased() {
        for isStopped in [true, false] {
            var worker: RunLoopThread? = RunLoopThread(name: "worker")
            weak let gone = worker
            let queue = PostingQueue(center: PostingTimeline(), on: worker!)
            for (style, name) in NotificationQueue.PostingStyle.all { queue.put(name, style) }
            XCTAssertEqual(queue.counters.waiting, 3)
            if isStopped { worker?.stop() }
            worker = nil
            XCTAssertNil(gone, "a queue does not retain its thread")
            XCTAssertEqual(queue.counters, DeliveryCounters(targetGone: 3))
            XCTAssertEqual(queue.put("late", .asap).outcome, .targetGone)
        }
    }

    func testAnObjectThatIsReleasedWhenTheThreadEndsMayEnqueue() throws {
        let timeline = PostingTimeline()
        let here = PostingQueue(center: timeline)
        let worker = try RunLoopThread.started("worker")
        let queue = PostingQueue(center: timeline, on: worker)
        do {
            let sender = ReleaseRecorder {
                XCTAssertTrue(worker.isCurrent)
                XCTAssertEqual(queue.put("there", .now).outcome, .targetGone)
                XCTAssertEqual(PostingQueue.default(for: timeline).put("default", .asap).outcome, .targetGone)
                here.put("here", .asap)
            }
            queue.put("own", .asap, from: sender, in: [Self.own])
        }
        try worker.stopAndWait()
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("here") })
        XCTAssertEqual(queue.counters, DeliveryCounters(targetGone: 2))
    }
}
