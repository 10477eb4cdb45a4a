public import Foundation
public import PostingQueues
internal import ThreadedNotifications

/// Apple's name for a `PostingQueue`, which keeps the promises of `NSNotificationQueue` on Linux.
///
///     NotificationQueue.default.enqueue(
///         Notification(name: saved), postingStyle: .whenIdle, coalesceMask: .onName, forModes: nil)
///
/// In a module with files that import Foundation themselves, the name is ambiguous there. One line decides for the
/// whole module: `typealias NotificationQueue = NotificationCompatibility.NotificationQueue`.
/// Threads, order, removal and cost: see `PostingQueue`, which is final and no `NSObject`.
public typealias NotificationQueue = PostingQueue

extension PostingQueue {
    public typealias PostingStyle = Foundation.NotificationQueue.PostingStyle
    public typealias NotificationCoalescing = Foundation.NotificationQueue.NotificationCoalescing

    /// A further queue of the current thread, which posts to a Foundation center.
    @available(*, noasync, message: "a task has no thread of its own; use init(center:on:)")
    public convenience init(notificationCenter: NotificationCenter) {
        self.init(center: notificationCenter)
    }

    /// Removes similar notifications. Apple's method takes the mask as an integer.
    @discardableResult
    public func dequeueNotifications(matching notification: Notification, coalesceMask: Int) -> Int {
        dequeueNotifications(
            matching: notification, coalesceMask: NotificationCoalescing(rawValue: UInt(bitPattern: coalesceMask)))
    }
}
