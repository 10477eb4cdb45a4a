import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Each thread has one default queue for each center. Queues, centers and threads leave nothing behind.
final class PostingDefaultQueueTests: XCTestCase {
    func testEachThreadHasOneDefaultQueueForEachCenter() {
        let center = PostingTimeline()
        let (queue, own) = (PostingQueue.default, PostingQueue.default(for: center))
        XCTAssertTrue(PostingQueue.default === queue)
        XCTAssertTrue(PostingQueue.default(for: NotificationCenter.default) === queue)
        XCTAssertTrue(PostingQueue.default(for: center) === own)
        XCTAssertFalse(queue === own)
        Thread.posting(1) {
            XCTAssertFalse(PostingQueue.default === queue)
            XCTAssertFalse(PostingQueue.default(for: center) === own)
        }.wait()
        let other = PostingTimeline()
        own.put("a", .now)
        PostingQueue.default(for: other).put("b", .now)
        XCTAssertEqual(center.entries + other.entries, ["a", "b"])
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
        XCTAssertTrue(thread.join(until: .after(TestTimeout.hang)))
        XCTAssertNil(gone.withLock { $0?.object })
    }

    func testThreadsWithQueuesLeaveNoDescriptorAndNoMailbox() throws {
        let center = PostingTimeline()
        weak var mailbox: Mailbox?
        func comeAndGo(_ threads: Int) throws {
            for _ in 0..<threads {
                // Its run loop has posted an idle notification, which needs a descriptor.
                let worker = try RunLoopThread.started("worker")
                mailbox = worker.mailbox
                let queue = PostingQueue(center: center, on: worker)
                let isIdle = DispatchSemaphore(value: 0)
                center.when("idle") { isIdle.signal() }
                queue.put("idle", .whenIdle)
                isIdle.wait()
                queue.put("never", .asap, in: [.init("own")])
                try worker.stopAndWait()
                XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 1, targetGone: 1))
            }
        }
        try comeAndGo(10)
        let descriptors = ProcessUsage.descriptors
        try comeAndGo(40)
        XCTAssertLessThanOrEqual(ProcessUsage.descriptors, descriptors + 4)
        XCTAssertNil(mailbox)
    }
}
