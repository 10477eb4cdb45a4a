import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Senders are compared by identity if they are objects, by equality if they are values. `RandomRunLoopTests` has equal
/// hashes, no sender, and values that cannot be compared.
final class PostingSenderTests: XCTestCase {
    /// Equal to all instances with the same value.
    private final class Equal: Hashable {
        let value: Int
        init(_ value: Int) { self.value = value }
        static func == (one: Equal, other: Equal) -> Bool { one.value == other.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }

    func testNotificationsOfOneNameAndSenderAreSimilarByDefault() {
        let queue = PostingQueue(center: PostingTimeline())
        for sender in [1, 2, 1] {
            queue.enqueue(Notification(name: Notification.Name("a"), object: sender), postingStyle: .asap)
        }
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 2, coalesced: 1))
        XCTAssertEqual(queue.dequeueNotifications(matching: Notification(name: Notification.Name("a"), object: 1)), 1)
        XCTAssertEqual(queue.dequeue("a", on: .onName), 1)
    }

    func testObjectsAreComparedByIdentityAndValuesByEquality() {
        let (one, other) = (Equal(1), Equal(1))
        let cases: [(one: Any?, other: Any?, areSimilar: Bool)] = [
            ("ab", ["a", "b"].joined(), true), ("a", "b", false), (1, "1", false), ([1, 2], [1, 2], true),
            (URL(string: "http://localhost"), URL(string: "http://localhost"), true), (Double.nan, Double.nan, false),
            (one, one, true), (one, other, false), (NSString(string: "a"), NSMutableString(string: "a"), false),
        ]
        for (one, other, areSimilar) in cases {
            let queue = PostingQueue(center: PostingTimeline())
            queue.put("a", .asap, from: one)
            let removed = queue.put("a", .asap, from: other, on: .onSender).removed
            XCTAssertEqual(removed, areSimilar ? 1 : 0, "\(one as Any) \(other as Any)")
            XCTAssertEqual(queue.dequeue("a", from: other, on: .onSender), other is Double ? 0 : 1)
            _ = queue.dequeue("a", on: .onName)
        }
    }

    func testASenderIsReleasedWithItsNotificationAndNoLockIsHeld() {
        struct Value: Hashable {
            var number: Int
            var held: ReleaseRecorder
            static func == (one: Value, other: Value) -> Bool { one.number == other.number }
            func hash(into hasher: inout Hasher) { hasher.combine(number) }
        }
        let released = Locked(0)
        let queue = PostingQueue(center: PostingTimeline())
        func sender(_ number: Int) -> Value {
            let recorder = ReleaseRecorder {
                // A release with the lock held would hang here.
                _ = queue.dequeue("none", from: 1, on: .onSender)
                released.withLock { $0 += 1 }
            }
            return Value(number: number, held: recorder)
        }
        for kept in [PostingQueue.Kept.latest, .latest, .earliest] {
            queue.put("a", .asap, from: sender(1), on: .onSender, keeping: kept)
        }
        queue.put("a", .whenIdle, from: sender(2), on: .onSender)
        queue.put("a", .now, from: sender(3), on: .onSender)
        XCTAssertEqual(queue.dequeue("a", from: sender(2), on: .onSender), 1)
        RunLoop.pollCurrent()
        XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 2, coalesced: 2, cancelled: 1))
        XCTAssertEqual(released.withLock { $0 }, 6)
    }

    /// Its `==` is foreign code.
    private struct Comparing: Hashable {
        var number: Int
        /// Called once, when two senders are compared.
        var whenCompared: Locked<(@Sendable () -> Void)?>

        static func == (one: Comparing, other: Comparing) -> Bool {
            let call = one.whenCompared.withLock { call in
                defer { call = nil }
                return call
            }
            call?()
            return one.number == other.number
        }

        /// All senders have the same hash, so that all are compared.
        func hash(into hasher: inout Hasher) {}
    }

    func testWhatIsEnqueuedWhileSendersAreComparedCountsAlsoOnAnotherThread() {
        let whenCompared = Locked<(@Sendable () -> Void)?>(nil)
        let queue = PostingQueue(center: PostingTimeline())
        @Sendable func sender(_ number: Int) -> Comparing { Comparing(number: number, whenCompared: whenCompared) }
        queue.put("a", .asap, from: sender(1), on: .onSender)
        // Equal to the notification that is enqueued during the comparison with the other. No lock is held.
        whenCompared.withLock { $0 = { Thread.posting(1) { queue.put("a", .asap, from: sender(2)) }.wait() } }
        XCTAssertEqual(queue.put("a", .asap, from: sender(2), on: .onSender).removed, 1)
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 2, coalesced: 1))
        XCTAssertEqual(queue.dequeue("a", on: .onName), 2)
    }
}
