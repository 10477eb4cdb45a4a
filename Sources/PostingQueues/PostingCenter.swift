public import Foundation
public import ThreadedNotifications

/// A notification center to which a ``PostingQueue`` posts: Foundation's `NotificationCenter`, a
/// ``ThreadedNotificationCenter``, or another type.
public protocol PostingCenter: AnyObject, Sendable {
    /// Posts a notification of a queue. Called on the queue's thread, with no lock of this package held.
    func post(_ queued: QueuedNotification)
}

/// A notification that a ``PostingQueue`` posts.
public struct QueuedNotification {
    /// The notification that was enqueued.
    public let notification: Notification
    /// The number of the post in events; 0 if nothing traced when it was enqueued.
    let number: UInt64
    /// The location of the call of `enqueue`.
    let location: SourceLocation
}

extension NotificationCenter: PostingCenter {
    /// Posts a notification of a queue. The queue calls this.
    public func post(_ queued: QueuedNotification) {
        post(queued.notification)
    }
}

extension ThreadedNotificationCenter: PostingCenter {
    /// Posts a notification of a queue. The queue calls this.
    public func post(_ queued: QueuedNotification) {
        post(queued.notification, number: queued.number, at: queued.location)
    }
}
