public import Foundation

/// A notification center that a ``PostingQueue`` may stand in front of: Foundation's `NotificationCenter`, a
/// ``ThreadedNotificationCenter``, or one of your own.
public protocol PostingCenter: AnyObject, Sendable {
    /// Posts what a queue has held. Called on the queue's thread, with no lock of this package held.
    func post(_ queued: QueuedNotification)
}

/// A notification that comes out of a ``PostingQueue``.
public struct QueuedNotification {
    /// What was enqueued.
    public let notification: Notification
    /// Of the post, in events; 0 if nobody traced when it was enqueued.
    let number: UInt64
    /// The location of the call of `enqueue`.
    let location: SourceLocation
}

extension NotificationCenter: PostingCenter {
    /// Posts what a queue has held; to be called by the queue.
    public func post(_ queued: QueuedNotification) {
        post(queued.notification)
    }
}

extension ThreadedNotificationCenter: PostingCenter {
    /// Posts what a queue has held; to be called by the queue.
    public func post(_ queued: QueuedNotification) {
        postHeld(queued)
    }
}
