internal import Foundation

/// A notification queue that promises are tried with.
protocol QueueUnderTest: Sendable {
    func enqueue(
        _ notification: Notification, _ style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, modes: [RunLoop.Mode]?)

    func dequeue(matching notification: Notification, mask: NotificationQueue.NotificationCoalescing)

    /// The number of notifications that lost their thread before they were posted, or nil if the queue does not report
    /// it.
    var targetGone: Int? { get }

    /// The queue object, to observe when it is released.
    var object: AnyObject { get }
}

extension QueueUnderTest {
    /// Enqueues a notification that notes this word when it is posted.
    func enqueue(
        _ word: String, _ style: NotificationQueue.PostingStyle, name: String = "Test", sender: Any? = nil,
        coalescing mask: NotificationQueue.NotificationCoalescing = [], modes: [RunLoop.Mode]? = nil
    ) {
        let notification = Notification(name: Notification.Name(name), object: sender, userInfo: ["word": word])
        enqueue(notification, style, mask: mask, modes: modes)
    }

    /// Removes the notifications with this name.
    func dequeue(name: String = "Test") {
        dequeue(matching: Notification(name: Notification.Name(name)), mask: .onName)
    }
}

/// Makes queues for the calling thread.
protocol QueueMaker: Sendable {
    /// Makes a queue that posts to `center`.
    func makeQueue(for center: NotificationCenter) -> any QueueUnderTest

    /// The calling thread's default queue, which posts to `NotificationCenter.default`.
    func defaultQueue() -> any QueueUnderTest
}
