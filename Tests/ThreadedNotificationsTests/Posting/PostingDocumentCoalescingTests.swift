import Foundation
import XCTest

@testable import ThreadedNotifications

/// The sentences of "Notification Programming Topics" about coalescing, one test each.
final class PostingDocumentCoalescingTests: XCTestCase {
    /// "NSNotificationCenter since its behavior is synchronous—notifications are posted before returning, thus there is
    /// no opportunity for "ignoring” duplicate notifications; moreover, an NSNotificationCenter instance has no way of
    /// knowing whether more notifications are coming or not."
    func testACenterIgnoresNoDuplicates() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let foundation = NotificationCenter()
            _ = foundation.addObserver(forName: nil, object: nil, queue: nil) { timeline.note($0.name.rawValue) }
            let threaded = ThreadedNotificationCenter()
            let token = threaded.addObserver(forName: nil, on: .current) { timeline.note($0.name.rawValue) }
            for _ in 0..<3 {
                foundation.post(name: Notification.Name("a"), object: nil)
                threaded.post(name: Notification.Name("b"))
            }
            XCTAssertEqual(timeline.entries, ["a", "b", "a", "b", "a", "b"])
            token.cancel()
        }
    }

    /// "NSNotificationQueue instance specifying an appropriate option for coalescing. Coalescing is a process that
    /// removes from a queue notifications that are similar in some way to a notification that was queued earlier."
    func testOneOfSeveralSimilarNotificationsStaysInTheQueue() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for _ in 0..<10 { queue.put("a", .asap, on: .onName) }
            XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 1, coalesced: 9))
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("a") })
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["a"])
        }
    }

    /// "You indicate the criteria for similarity by specifying one or more of the following constants in the third
    /// argument of the enqueueNotification:postingStyle:coalesceMask:forModes: method."
    func testTheThirdArgumentIsTheCriterionOfSimilarity() {
        let left: [(NotificationQueue.NotificationCoalescing, [String])] = [
            ([], ["a1", "a2", "b1", "a1"]), (.onName, ["b1", "a1"]), (.onSender, ["a2", "a1"]),
            ([.onName, .onSender], ["a2", "b1", "a1"]),
        ]
        for (mask, expected) in left { XCTAssertEqual(Self.leftOfFour(mask), expected) }
    }

    /// "NSNotificationNoCoalescing | Do not coalesce notifications in the queue."
    func testNoCoalescing() {
        XCTAssertEqual(Self.leftOfFour(.none), ["a1", "a2", "b1", "a1"])
    }

    /// "NSNotificationCoalescingOnName | Coalesce notifications with the same name."
    func testCoalescingOnName() {
        XCTAssertEqual(Self.leftOfFour(.onName), ["b1", "a1"])
    }

    /// "NSNotificationCoalescingOnSender | Coalesce notifications with the same object."
    func testCoalescingOnSender() {
        XCTAssertEqual(Self.leftOfFour(.onSender), ["a2", "a1"])
    }

    /// "NSNotificationCoalescingOnName and NSNotificationCoalescingOnSender constants to specify coalescing using both
    /// the notification name and notification object."
    func testCoalescingOnBoth() {
        XCTAssertEqual(Self.leftOfFour([.onName, .onSender]), ["a2", "b1", "a1"])
    }

    /// "The following example illustrates how you might use a queue to ensure that, within a given event loop cycle,
    /// all notifications named MyNotificationName are coalesced into a single notification."
    ///
    ///     // MyNotificationName defined globally
    ///     NSString *MyNotificationName = @"MyNotification";
    ///     id object = <#The object associated with the notification#>;
    ///     NSNotification *myNotification =
    ///     [NSNotification notificationWithName:MyNotificationName object:object]
    ///     [[NSNotificationQueue defaultQueue]
    ///     enqueueNotification:myNotification
    ///     postingStyle:NSPostWhenIdle
    ///     coalesceMask:NSNotificationCoalescingOnName
    ///     forModes:nil];
    func testTheExampleCoalescesAllNotificationsOfAName() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let token = NotificationCenter.default.addObserver(forName: myNotificationName, object: nil, queue: nil) {
                timeline.note("\($0.name.rawValue) of \($0.object ?? "nobody")")
            }
            // From different objects, in several callouts of a cycle.
            RunLoop.addDueTimer { enqueue(object: "one") }
            let port = RunLoop.addSignalledPort { enqueue(object: "two") }
            RunLoop.current.perform { enqueue(object: "three") }
            enqueue(object: "four")
            func isOver() -> Bool { PostingQueue.default.counters.waiting == 0 }
            XCTAssertTrue(RunLoop.runCurrent(until: isOver))
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries.count, 1)
            XCTAssertNotEqual(timeline.entries, ["MyNotification of four"], "the latest is kept")
            NotificationCenter.default.removeObserver(token)
            withExtendedLifetime(port) {}
        }
    }

    /// The notifications that remain of four: "a" from 1, "a" from 2, "b" from 1 and "a" from 1.
    private static func leftOfFour(_ mask: NotificationQueue.NotificationCoalescing) -> [String] {
        let timeline = PostingTimeline()
        let center = NotificationCenter()
        _ = center.addObserver(forName: nil, object: nil, queue: nil) {
            timeline.note("\($0.name.rawValue)\($0.object ?? "")")
        }
        let queue = PostingQueue(center: center)
        for (name, sender) in [("a", 1), ("a", 2), ("b", 1), ("a", 1)] {
            queue.put(name, .asap, from: sender, on: mask)
        }
        RunLoop.pollCurrent()
        return timeline.entries
    }
}

private let myNotificationName = Notification.Name("MyNotification")

@Sendable private func enqueue(object: String) {
    let myNotification = Notification(name: myNotificationName, object: object)
    PostingQueue.default.enqueue(
        myNotification, postingStyle: .whenIdle, coalesceMask: .onName, forModes: nil)
}
