import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Notifications that another thread enqueues are posted on the queue's thread, which is woken.
final class PostingFromOtherThreadsTests: XCTestCase {
    func testEnqueuingOnAnotherThreadWakesTheThread() throws {
        let worker = try RunLoopThread.started("worker")
        for (thread, isMain) in [(worker.targetThread, false), (MainThread.main.targetThread, true)] {
            for (style, name) in NotificationQueue.PostingStyle.all {
                for modes: [RunLoop.Mode]? in [nil, [.common], [.init("first used here \(name)"), .default]] {
                    let timeline = PostingTimeline()
                    let isPosted = expectation(description: name)
                    timeline.when(name) {
                        XCTAssertEqual(Thread.isMainThread, isMain)
                        XCTAssertEqual(worker.isCurrent, !isMain)
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
        queue.put("default", .asap)
        queue.put("asap", .asap, in: [own])
        queue.put("idle", .whenIdle, in: [own])
        XCTAssertEqual(over.wait(timeout: .now() + TestTimeout.seconds), .success)
        try worker.stopAndWait()
        XCTAssertEqual(timeline.entries, ["asap", "idle", "left", "default"])
    }
}
