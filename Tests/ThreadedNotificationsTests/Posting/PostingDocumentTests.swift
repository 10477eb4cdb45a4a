import Foundation
import XCTest

@testable import ThreadedNotifications

/// The sentences of "Notification Programming Topics" about notification queues, asynchronous posting and modes, one
/// test each.
///
/// `PostingDocumentStylesTests` covers posting styles, `PostingDocumentCoalescingTests` coalescing.
final class PostingDocumentTests: XCTestCase {
    private let modal = RunLoop.Mode("NSModalPanelRunLoopMode")

    // MARK: Notification Queues

    /// "NSNotificationQueue objects, or simply, notification queues, act as buffers for notification centers (instances
    /// of NSNotificationCenter)."
    func testAQueueStoresNotificationsAndPostsThemLater() {
        onMainAndAnotherThread {
            let center = NotificationCenter()
            let timeline = PostingTimeline()
            timeline.observe(center)
            let queue = PostingQueue(center: center)
            queue.put("a", .asap)
            queue.put("b", .whenIdle)
            XCTAssertEqual(timeline.entries, [])
            XCTAssertTrue(RunLoop.runCurrent { timeline.entries.count == 2 })
            XCTAssertEqual(timeline.entries, ["a", "b"])
        }
    }

    /// "The NSNotificationQueue class contributes two important features to the Foundation Kit’s notification
    /// mechanism: the coalescing of notifications and asynchronous posting."
    func testAQueueCoalescesAndPostsAsynchronously() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for _ in 0..<3 { queue.put("a", .asap, on: .onName) }
            timeline.note("enqueued")
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("a") })
            XCTAssertEqual(timeline.entries, ["enqueued", "a"])
        }
    }

    /// "NSNotificationCenter’s postNotification: method and its variants, you can post a notification to a notification
    /// center. However, the invocation of the method is synchronous: before the posting object can resume its thread of
    /// execution, it must wait until the notification center dispatches the notification to all observers and returns."
    func testPostingToACenterReturnsAfterAllObserversWereCalled() {
        let timeline = PostingTimeline()
        let foundation = NotificationCenter()
        let threaded = ThreadedNotificationCenter()
        var tokens: [ObserverToken] = []
        for _ in 0..<3 {
            timeline.observe(foundation)
            tokens.append(threaded.addObserver(forName: nil, on: .current) { timeline.note($0.name.rawValue) })
        }
        foundation.post(name: Notification.Name("a"), object: nil)
        timeline.note("resumed")
        XCTAssertEqual(threaded.post(name: Notification.Name("b")).delivered, tokens.count)
        timeline.note("resumed")
        XCTAssertEqual(timeline.entries, ["a", "a", "a", "resumed", "b", "b", "b", "resumed"])
    }

    /// "A notification queue, on the other hand, maintains notifications (instances of NSNotification) generally in a
    /// First In First Out (FIFO) order."
    func testFirstInFirstOut() {
        onMainAndAnotherThread {
            for (style, name) in NotificationQueue.PostingStyle.all where style != .now {
                let timeline = PostingTimeline()
                let queue = PostingQueue(center: timeline)
                let names = (0..<20).map { "\(name) \($0)" }
                for name in names { queue.put(name, style) }
                XCTAssertTrue(RunLoop.runCurrent { timeline.entries.count == names.count })
                XCTAssertEqual(timeline.entries, names)
            }
        }
    }

    /// "When a notification rises to the front of the queue, the queue posts it to the notification center, which in
    /// turn dispatches the notification to all objects registered as observers."
    func testTheFirstIsDispatchedToAllObserversBeforeTheNext() {
        onMainAndAnotherThread {
            let center = NotificationCenter()
            let timeline = PostingTimeline()
            for _ in 0..<3 { timeline.observe(center) }
            let queue = PostingQueue(center: center)
            queue.put("a", .asap)
            queue.put("b", .asap)
            XCTAssertTrue(RunLoop.runCurrent { timeline.count("b") == 3 })
            XCTAssertEqual(timeline.entries, ["a", "a", "a", "b", "b", "b"])
        }
    }

    // MARK: Posting Notifications Asynchronously

    /// "NSNotificationQueue’s enqueueNotification:postingStyle: and
    /// enqueueNotification:postingStyle:coalesceMask:forModes: methods, you can post a notification asynchronously to
    /// the current thread by putting it in a queue."
    func testAQueuePostsOnTheCurrentThread() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let current = ThreadIdentity.current
            for name in ["short", "long"] {
                timeline.when(name) { timeline.note(ThreadIdentity.current == current ? "here" : "elsewhere") }
            }
            let queue = PostingQueue(center: timeline)
            queue.enqueue(Notification(name: Notification.Name("short")), postingStyle: .asap)
            queue.enqueue(
                Notification(name: Notification.Name("long")), postingStyle: .asap, coalesceMask: [.onName, .onSender],
                forModes: nil)
            XCTAssertTrue(RunLoop.runCurrent { timeline.entries.count == 4 })
            XCTAssertEqual(timeline.entries, ["short", "here", "long", "here"])
        }
    }

    /// "These methods immediately return to the invoking object after putting the notification in the queue."
    func testEnqueuingReturnsWithTheNotificationInTheQueue() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            XCTAssertEqual(queue.put("a", .asap).outcome, .waiting)
            XCTAssertEqual(queue.put("b", .whenIdle).outcome, .waiting)
            XCTAssertEqual(timeline.entries, [])
            XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 2))
            XCTAssertEqual(queue.dequeue("a", on: .onName) + queue.dequeue("b", on: .onName), 2)
        }
    }

    /// "NSModalPanelRunLoopMode, the notifications will be posted only when the run loop is in this mode."
    func testANotificationForTheModalModeIsPostedOnlyInIt() {
        let modal = modal
        onMainAndAnotherThread {
            for (style, name) in NotificationQueue.PostingStyle.all {
                let timeline = PostingTimeline()
                let queue = PostingQueue(center: timeline)
                queue.put(name, style, in: [modal])
                // This notification is idle and last, so the run in the default mode has posted all others.
                queue.put("default", .whenIdle)
                XCTAssertTrue(RunLoop.runCurrent { timeline.has("default") })
                XCTAssertEqual(timeline.entries, ["default"])
                XCTAssertTrue(RunLoop.runCurrent(in: modal) { timeline.has(name) })
            }
        }
    }

    /// "If the run loop is not currently in this mode, the notifications wait until the next time that mode is
    /// entered."
    func testANotificationForAnotherModeWaitsUntilTheModeIsEntered() {
        let modal = modal
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("opens") {
                for (style, name) in NotificationQueue.PostingStyle.all { queue.put(name, style, in: [modal]) }
                timeline.note("entered")
                XCTAssertTrue(RunLoop.runCurrent(in: modal) { timeline.has("idle") })
                timeline.note("left")
            }
            queue.put("opens", .asap)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("left") })
            XCTAssertEqual(timeline.entries, ["opens", "entered", "now", "asap", "idle", "left"])
        }
    }

    /// "NSPostASAP, NSPostWhenIdle, and NSPostNow. These styles are described in the following sections."
    func testEachOfTheThreeStylesIsPostedAtItsTime() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            queue.put("asap", .asap)
            queue.put("now", .now)
            timeline.note("enqueued")
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            XCTAssertEqual(timeline.entries, ["now", "enqueued", "asap", "idle"])
        }
    }
}
