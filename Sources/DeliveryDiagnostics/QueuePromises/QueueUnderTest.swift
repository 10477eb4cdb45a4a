internal import Foundation

/// A notification queue that the promises are asked of.
protocol QueueUnderTest: Sendable {
    func enqueue(
        _ notification: Notification, _ style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, modes: [RunLoop.Mode]?)

    func dequeue(matching notification: Notification, mask: NotificationQueue.NotificationCoalescing)

    /// How many lost their thread before they were posted; nil: nothing tells.
    var targetGone: Int? { get }

    /// The queue itself.
    var object: AnyObject { get }
}

extension QueueUnderTest {
    /// Enqueues a notification that is noted by this word when it is posted.
    func enqueue(
        _ word: String, _ style: NotificationQueue.PostingStyle, name: String = "Test", sender: Any? = nil,
        coalescing mask: NotificationQueue.NotificationCoalescing = [], modes: [RunLoop.Mode]? = nil
    ) {
        let notification = Notification(name: Notification.Name(name), object: sender, userInfo: ["word": word])
        enqueue(notification, style, mask: mask, modes: modes)
    }

    /// Removes what has this name.
    func dequeue(name: String = "Test") {
        dequeue(matching: Notification(name: Notification.Name(name)), mask: .onName)
    }
}

/// Makes queues of the calling thread.
protocol QueueMaker: Sendable {
    /// A new one.
    func makeQueue(for center: NotificationCenter) -> any QueueUnderTest

    /// The default one, which posts to `NotificationCenter.default`.
    func defaultQueue() -> any QueueUnderTest
}
