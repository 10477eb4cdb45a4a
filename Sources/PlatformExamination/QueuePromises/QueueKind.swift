internal import Foundation
internal import ThreadedNotifications

/// The queue that a promise is tried with.
enum QueueKind: Sendable, Hashable {
    case foundation
    case postingQueue
}

extension QueueKind: QueueMaker {
    func makeQueue(for center: NotificationCenter) -> any QueueUnderTest {
        switch self {
        case .foundation: FoundationQueue(NotificationQueue(notificationCenter: center))
        case .postingQueue: OurQueue(queue: PostingQueue(center: center))
        }
    }

    func defaultQueue() -> any QueueUnderTest {
        switch self {
        case .foundation: FoundationQueue(.default)
        case .postingQueue: OurQueue(queue: .default)
        }
    }
}

/// Foundation's.
//
// Safety: no two threads touch the queue at once. Where a second thread enqueues, the main thread waits for it or
// sleeps in its run loop, and what wakes it comes after; the second thread's run loop touches only the queues that were
// made there.
private final class FoundationQueue: QueueUnderTest, @unchecked Sendable {
    private let queue: NotificationQueue

    init(_ queue: NotificationQueue) {
        self.queue = queue
    }

    func enqueue(
        _ notification: Notification, _ style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, modes: [RunLoop.Mode]?
    ) {
        queue.enqueue(notification, postingStyle: style, coalesceMask: mask, forModes: modes)
    }

    func dequeue(matching notification: Notification, mask: NotificationQueue.NotificationCoalescing) {
        queue.dequeueNotifications(matching: notification, coalesceMask: mask)
    }

    var targetGone: Int? { nil }
    var object: AnyObject { queue }
}

/// This package's queue.
private struct OurQueue: QueueUnderTest {
    let queue: PostingQueue

    func enqueue(
        _ notification: Notification, _ style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, modes: [RunLoop.Mode]?
    ) {
        queue.enqueue(notification, postingStyle: style, coalesceMask: mask, forModes: modes)
    }

    func dequeue(matching notification: Notification, mask: NotificationQueue.NotificationCoalescing) {
        queue.dequeueNotifications(matching: notification, coalesceMask: mask)
    }

    var targetGone: Int? { queue.counters.targetGone }
    var object: AnyObject { queue }
}
