internal import Foundation

/// What may wait in a mailbox.
enum MailboxItem: Sendable {
    /// A notification for one observer.
    case delivery(Delivery)
    /// A block to perform.
    case block(@Sendable () -> Void, post: UInt64)
    /// A block that somebody waits for, or may cancel.
    case performed(PerformedBlock)
    /// A job of the thread as an executor.
    case job(UnownedJob, RunLoopThread)
}

/// A notification for one observer, on its way.
struct Delivery: Sendable {
    let registration: Registration
    let payload: Payload
    let post: UInt64
    /// Who waits for it.
    let wait: DeliveryWait?
    /// What a later one must have to take its place; only if the observer's policy has that.
    var key: NotificationKey?

    var name: Notification.Name {
        switch payload {
        case .notification(let captured): captured.notification.name
        case .value(_, let name): name
        }
    }
}

/// What an observer gets of a notification.
enum Payload: Sendable {
    case notification(CapturedNotification)
    /// What its mapping made of the notification on the posting thread.
    case value(any Sendable, of: Notification.Name)
}

/// A notification on its way to the target thread: the one place where a `Notification`, which is not `Sendable`, is handed
/// from thread to thread.
//
// Safety: the posting thread hands it over through the mailbox's lock, and this package only passes it on. Its object and
// userInfo are shared with whoever posted it, as with any notification center on any platform: who posts to another thread
// what is not safe there should map it to a Sendable value instead.
struct CapturedNotification: @unchecked Sendable {
    let notification: Notification
}
