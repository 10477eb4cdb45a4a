internal import Foundation

/// The handler of an observer with an async function. `AsyncCall` calls it.
struct AsyncHandler {
    /// Makes the value on the posting thread. Nil: the observer does not get this notification.
    let makeValue: (Notification) -> Any?
    /// Nil if it gets the values of a transform.
    let messageType: ObjectIdentifier?
    /// See `MessageName.isCaptured`.
    let isCaptured: Bool
    /// Called with a value that `makeValue` made, or with a message of that type.
    let handle: @Sendable (Any) async -> Void

    /// A handler of messages.
    init<Message>(_ name: MessageName, _ handle: @escaping @Sendable (Message) async -> Void) {
        makeValue = name.makeMessage
        messageType = ObjectIdentifier(Message.self)
        isCaptured = name.isCaptured
        self.handle = { await handle(Delivery.value($0)) }
    }

    /// A handler of values.
    init<Value: Sendable>(
        transform: @escaping @Sendable (Notification) -> Value?, _ handle: @escaping @Sendable (Value) async -> Void
    ) {
        makeValue = transform
        messageType = nil
        isCaptured = true
        self.handle = { await handle(Delivery.value($0)) }
    }
}
