import Foundation
import Glibc
import SharedTesting
import Synchronization
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Notifications that another thread enqueues are posted on the queue's thread, which is woken.
final class PostingFromOtherThreadsTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testEnqueuingOnAnotherThreadWakesASleepingThread() throws {
        let worker = try RunLoopThread.started("worker")
        for (style, name) in NotificationQueue.PostingStyle.all {
            for modes: [RunLoop.Mode]? in [nil, [.common], [.init("first used here \(name)"), .default]] {
                let timeline = PostingTimeline()
                let isPosted = DispatchSemaphore(value: 0)
                timeline.when(name) {
                    timeline.note(worker.isCurrent ? "there" : "elsewhere")
                    isPosted.signal()
                }
                let queue = PostingQueue(center: timeline, on: worker)
                worker.identity?.waitUntilAsleep()
                queue.put(name, style, in: modes)
                XCTAssertEqual(isPosted.wait(timeout: .now() + TestTimeout.seconds), .success, name)
                XCTAssertEqual(timeline.entries, [name, "there"])
            }
        }
        try worker.stopAndWait()
    }

    func testEnqueuingOnAnotherThreadWakesTheSleepingMainThread() {
        for (style, name) in NotificationQueue.PostingStyle.all {
            let timeline = PostingTimeline()
            let main = ThreadIdentity.current
            let queue = PostingQueue(center: timeline, on: .main)
            timeline.when(name) { XCTAssertEqual(ThreadIdentity.current, main) }
            let enqueuing = Thread.posting(1) {
                main.waitUntilAsleep()
                queue.put(name, style)
            }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has(name) }, name)
            enqueuing.wait()
        }
    }

    func testANowOfAnotherThreadIsPostedBeforeAsapNotifications() throws {
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline, on: worker)
        let over = DispatchSemaphore(value: 0)
        timeline.when("idle") { over.signal() }
        queue.put("idle", .whenIdle)
        queue.put("asap", .asap)
        queue.put("now 1", .now)
        queue.put("now 2", .now)
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 4))
        resume.signal()
        XCTAssertEqual(over.wait(timeout: .now() + TestTimeout.seconds), .success)
        XCTAssertEqual(timeline.entries, ["now 1", "now 2", "asap", "idle"])
        try worker.stopAndWait()
    }

    func testANowPostsEarlierOnesAndNotThoseThatAnotherThreadEnqueuesMeanwhile() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("here") { Thread.posting(1) { queue.put("elsewhere", .now) }.wait() }
            XCTAssertEqual(queue.put("here", .now).outcome, .delivered)
            XCTAssertEqual(timeline.entries, ["here"])
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["here", "elsewhere"])
        }
    }

    func testANotificationForNewModesIsNotOvertaken() throws {
        let worker = try RunLoopThread.started("worker")
        for round in 0..<TestRounds.rounds(40, stress: 200) {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline, on: worker)
            let modes = [RunLoop.Mode("new \(round)"), .default]
            // The first call adds the modes; the others use them.
            let ready = Atomic<Int>.Box(0)
            Thread.posting(3) {
                let poster = ThreadIdentity.current.number
                ready.value.add(1, ordering: .relaxed)
                while ready.value.load(ordering: .relaxed) < 3 { sched_yield() }
                queue.put("first \(poster)", .asap, in: modes)
                queue.put("second \(poster)", .asap)
            }.wait()
            try worker.performAndWait(timeout: timeout) { RunLoop.pollCurrent() }
            let posted = timeline.entries
            XCTAssertEqual(posted.count, 6)
            for second in posted where second.hasPrefix("second") {
                let first = second.replacingOccurrences(of: "second", with: "first")
                XCTAssertLessThan(posted.firstIndex(of: first) ?? 6, posted.firstIndex(of: second) ?? 0)
            }
        }
        try worker.stopAndWait()
    }

    func testARunLoopInANewModePostsNotificationsOfOtherThreads() throws {
        let worker = try RunLoopThread.started("worker")
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline, on: worker)
        let (entered, over) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let own = RunLoop.Mode("own")
        try worker.perform {
            // A mode without sources does not run.
            let port = PortReceiver(mode: own) { _ in }
            entered.signal()
            XCTAssertTrue(RunLoop.runCurrent(in: own) { timeline.has("idle") })
            timeline.note("left")
            withExtendedLifetime(port) {}
            over.signal()
        }
        entered.wait()
        worker.identity?.waitUntilAsleep()
        queue.put("default", .asap)
        queue.put("asap", .asap, in: [own])
        queue.put("idle", .whenIdle, in: [own])
        XCTAssertEqual(over.wait(timeout: .now() + TestTimeout.seconds), .success)
        try worker.stopAndWait()
        XCTAssertEqual(timeline.entries, ["asap", "idle", "left", "default"])
    }
}
