import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Each thread has one default queue for each center. Queues, centers and threads leave nothing behind.
final class PostingDefaultQueueTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAThreadsDefaultQueueIsTheSameAgain() {
        onMainAndAnotherThread {
            let queue = PostingQueue.default
            XCTAssertTrue(PostingQueue.default === queue)
            XCTAssertTrue(PostingQueue.default(for: NotificationCenter.default) === queue)
            let center = PostingTimeline()
            let other = PostingQueue.default(for: center)
            XCTAssertTrue(PostingQueue.default(for: center) === other)
            XCTAssertTrue(PostingQueue.default === queue)
        }
    }

    func testAnotherThreadHasAnotherDefaultQueue() {
        let center = PostingTimeline()
        let (queue, own) = (PostingQueue.default, PostingQueue.default(for: center))
        Thread.posting(1) {
            XCTAssertFalse(PostingQueue.default === queue)
            XCTAssertFalse(PostingQueue.default(for: center) === own)
        }.wait()
    }

    func testAnotherCenterHasAnotherDefaultQueue() {
        onMainAndAnotherThread {
            let (one, other) = (PostingTimeline(), PostingTimeline())
            let queue = PostingQueue.default(for: one)
            XCTAssertFalse(PostingQueue.default(for: other) === queue)
            XCTAssertFalse(PostingQueue.default === queue)
            queue.put("a", .now)
            PostingQueue.default(for: other).put("b", .now)
            XCTAssertEqual(one.entries, ["a"])
            XCTAssertEqual(other.entries, ["b"])
        }
    }

    func testNotificationsOfAReleasedQueueArePosted() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            weak var gone: PostingQueue?
            do {
                let queue = PostingQueue(center: timeline)
                for (style, name) in NotificationQueue.PostingStyle.all { queue.put(name, style, in: [.init("own")]) }
                queue.put("asap", .asap)
                queue.put("idle", .whenIdle)
                gone = queue
            }
            XCTAssertNil(gone)
            XCTAssertEqual(timeline.entries, ["now"])
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            XCTAssertEqual(timeline.entries, ["now", "asap", "idle"])
            XCTAssertTrue(RunLoop.runCurrent(in: .init("own")) { timeline.count("idle") == 2 })
            XCTAssertEqual(timeline.entries, ["now", "asap", "idle", "asap", "idle"])
        }
    }

    func testAThreadRetainsItsDefaultQueuesAndTheirCentersUntilItEnds() throws {
        let gone = Locked<WeakReference<PostingTimeline>?>(nil)
        let thread = try SystemThread.start {
            let center = PostingTimeline()
            gone.withLock { $0 = WeakReference(center) }
            PostingQueue.default(for: center).put("a", .now)
            XCTAssertEqual(PostingQueue.default(for: center).counters, DeliveryCounters(delivered: 1))
        }.get()
        XCTAssertTrue(thread.join(until: .after(timeout)))
        XCTAssertNil(gone.withLock { $0?.object })
    }

    func testThreeHundredThreadsLeaveNoMemoryAndNoDescriptor() throws {
        let released = Atomic<Int>.Box(0)
        let center = PostingTimeline()
        func comeAndGo(_ threads: Int) throws {
            for index in 0..<threads {
                if index % 2 == 0 {
                    // Its run loop has posted an idle notification, which needs a descriptor.
                    let worker = try RunLoopThread.started("worker")
                    weak let mailbox = worker.mailbox
                    let queue = PostingQueue(center: center, on: worker)
                    for style in [NotificationQueue.PostingStyle.now, .asap, .whenIdle] { queue.put("a", style) }
                    let idle = DispatchSemaphore(value: 0)
                    center.when("idle") { idle.signal() }
                    queue.put("idle", .whenIdle)
                    XCTAssertEqual(idle.wait(timeout: .now() + TestTimeout.seconds), .success)
                    queue.put("never", .asap, in: [.init("own")])
                    try worker.stopAndWait()
                    XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 4, targetGone: 1))
                    XCTAssertNotNil(mailbox)
                } else {
                    // The thread is joined, because otherwise its descriptors stay for a while after its block has
                    // returned.
                    let thread = try SystemThread.start {
                        let held = ReleaseRecorder { released.value.add(1, ordering: .relaxed) }
                        PostingQueue.default(for: center).put("a", .asap, from: held)
                        if index % 3 == 0 { RunLoop.runCurrentOnce() }
                        PostingQueue.default.put("b", .whenIdle, from: held)
                    }.get()
                    XCTAssertTrue(thread.join(until: .after(timeout)))
                }
            }
        }
        try comeAndGo(300)
        let (descriptors, memory) = (ProcessUsage.descriptors, ProcessUsage.residentKilobytes)
        try comeAndGo(300)
        XCTAssertLessThanOrEqual(ProcessUsage.descriptors, descriptors + 4)
        XCTAssertLessThan(ProcessUsage.residentKilobytes - memory, 10_000, "kB for 300 threads")
        weak var gone: Mailbox?
        do {
            let worker = try RunLoopThread.started("worker")
            gone = worker.mailbox
            PostingQueue(center: center, on: worker).put("a", .whenIdle)
            try worker.stopAndWait()
        }
        XCTAssertNil(gone)
    }

    func testATaskMakesAQueueOnANamedThread() async throws {
        let timeline = PostingTimeline()
        let worker = try RunLoopThread.started("worker")
        await withCheckedContinuation { continuation in
            timeline.when("a") {
                XCTAssertTrue(worker.isCurrent)
                continuation.resume()
            }
            PostingQueue(center: timeline, on: worker).put("a", .asap)
        }
        XCTAssertEqual(timeline.entries, ["a"])
        worker.stop()
    }
}
