internal import Foundation

/// The handler of an observer with an async function. `AsyncCall` calls it.
struct AsyncHandler {
    /// Makes the value on the posting thread. Nil: the observer does not get this notification.
    let makeValue: (Notification) -> Any?
    /// Nil if it gets the values of a transform.
    let message: MessageHandler?
    let handle: @Sendable (Any) async -> Void
}
