import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// What is coalesced by default, and what is kept. `RandomRunLoopTests` coalesces across all styles, modes and masks.
final class PostingCoalescingTests: XCTestCase {
    func testNotificationsOfOneNameAndSenderAreSimilarByDefault() {
        let queue = PostingQueue(center: PostingTimeline())
        for sender in [1, 2, 1] {
            queue.enqueue(Notification(name: Notification.Name("a"), object: sender), postingStyle: .asap)
        }
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 2, coalesced: 1))
        XCTAssertEqual(queue.dequeueNotifications(matching: Notification(name: Notification.Name("a"), object: 1)), 1)
        XCTAssertEqual(queue.dequeue("a", on: .onName), 1)
    }

    func testThePostedNotificationIsTheKeptOne() {
        final class Sender: Sendable {}
        let sender = Sender()
        for (kept, content) in [(PostingQueue.Kept.latest, 3), (.earliest, 1)] {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("a") { notification in
                XCTAssertTrue(notification.object as AnyObject === sender)
                timeline.note("\(notification.userInfo?["content"] as? Int ?? 0)")
            }
            for content in 1...3 {
                queue.enqueue(
                    Notification(name: Notification.Name("a"), object: sender, userInfo: ["content": content]),
                    postingStyle: .asap, keeping: kept)
            }
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["a", "\(content)"])
        }
    }
}
