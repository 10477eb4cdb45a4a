internal import Foundation
internal import PostingQueues
internal import ThreadedNotifications

/// A notification queue of the side that is asked.
//
// Safety: no two threads touch a queue of Foundation at once. Where a second thread enqueues, the main thread waits for
// it or sleeps in its run loop, and the main thread wakes after the call. The second thread's run loop touches only the
// queues that were made there.
struct QueueUnderTest: @unchecked Sendable {
    typealias Style = NotificationQueue.PostingStyle
    typealias Mask = NotificationQueue.NotificationCoalescing

    let object: AnyObject
    let enqueue: (Notification, Style, Mask, [RunLoop.Mode]?) -> Void
    let dequeue: (Notification, Mask) -> Void
    /// The number of notifications that lost their thread, or nil if the queue does not report it.
    var targetGone: () -> Int? = { nil }

    /// Makes a queue of the calling thread that posts to a center. Nil means the thread's default queue, which posts to
    /// `NotificationCenter.default`.
    typealias Maker = @Sendable (NotificationCenter?) -> QueueUnderTest

    static func maker(_ side: Question.Side) -> Maker {
        { center in
            switch side {
            case .foundation:
                let queue = center.map { NotificationQueue(notificationCenter: $0) } ?? .default
                return QueueUnderTest(
                    object: queue, enqueue: { queue.enqueue($0, postingStyle: $1, coalesceMask: $2, forModes: $3) },
                    dequeue: { queue.dequeueNotifications(matching: $0, coalesceMask: $1) })
            case .ours:
                let queue = center.map { PostingQueue(center: $0) } ?? .default
                return QueueUnderTest(
                    object: queue, enqueue: { queue.enqueue($0, postingStyle: $1, coalesceMask: $2, forModes: $3) },
                    dequeue: { queue.dequeueNotifications(matching: $0, coalesceMask: $1) },
                    targetGone: { queue.counters.targetGone })
            }
        }
    }

    /// Enqueues a notification that notes this word when it is posted.
    func enqueue(
        _ word: String, _ style: Style, name: String = "Test", sender: Any? = nil, coalescing mask: Mask = [],
        modes: [RunLoop.Mode]? = nil
    ) {
        let notification = Notification(name: Notification.Name(name), object: sender, userInfo: ["word": word])
        enqueue(notification, style, mask, modes)
    }

    func dequeue(name: String = "Test") { dequeue(Notification(name: Notification.Name(name)), .onName) }
}
