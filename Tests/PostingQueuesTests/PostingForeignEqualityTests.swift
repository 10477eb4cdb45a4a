import Foundation
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// A sender's `==` is foreign code. It may enqueue and dequeue, and so may other threads at that time.
final class PostingForeignEqualityTests: XCTestCase {
    private struct Sender: Hashable {
        var number: Int
        /// Called once, when two senders are compared.
        var whenCompared: Locked<(@Sendable () -> Void)?>

        static func == (one: Sender, other: Sender) -> Bool {
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

    private let whenCompared = Locked<(@Sendable () -> Void)?>(nil)
    private let queue = PostingQueue(center: NotificationCenter())

    override func tearDown() {
        for number in 1...3 {
            queue.dequeueNotifications(matching: notification(number), coalesceMask: .onSender)
        }
        XCTAssertEqual(queue.counters.waiting, 0)
    }

    private func notification(_ number: Int) -> Notification {
        Notification(
            name: Notification.Name("\(number)"), object: Sender(number: number, whenCompared: whenCompared))
    }

    private func enqueue(_ number: Int) -> EnqueueReport {
        queue.enqueue(notification(number), postingStyle: .asap, coalesceMask: .onSender)
    }

    private func duringTheNextComparison(_ call: @escaping (PostingQueue) -> Void) {
        // Safety: called on this thread only, in a call of the queue.
        nonisolated(unsafe) let call = call
        whenCompared.withLock { $0 = { [queue] in call(queue) } }
    }

    func testANotificationEnqueuedDuringAComparisonIsComparedToo() {
        XCTAssertEqual(enqueue(1), EnqueueReport(outcome: .waiting, removed: 0))
        duringTheNextComparison { [unowned self] _ in
            XCTAssertEqual(enqueue(2), EnqueueReport(outcome: .waiting, removed: 0))
        }
        // Equal to the notification that is enqueued during the comparison with the other.
        XCTAssertEqual(enqueue(2), EnqueueReport(outcome: .waiting, removed: 1))
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 2, coalesced: 1))
    }

    func testANotificationDequeuedDuringAComparisonIsNotSimilar() {
        XCTAssertEqual(enqueue(1), EnqueueReport(outcome: .waiting, removed: 0))
        duringTheNextComparison { [unowned self] queue in
            XCTAssertEqual(queue.dequeueNotifications(matching: notification(1), coalesceMask: .onSender), 1)
        }
        XCTAssertEqual(enqueue(1), EnqueueReport(outcome: .waiting, removed: 0))
        XCTAssertEqual(enqueue(1), EnqueueReport(outcome: .waiting, removed: 1))
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 1, coalesced: 1, cancelled: 1))
    }
}
