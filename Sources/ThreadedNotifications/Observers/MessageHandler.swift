internal import Foundation

/// The handler of an observer of messages.
struct MessageHandler {
    let type: ObjectIdentifier
    /// True if it must be released on its thread.
    let isThreadBound: Bool
    /// Nil: notifications are not converted to the message.
    private let convertible: (any NotificationConvertible.Type)?
    /// Called with the address of a message of that type.
    let handle: (UnsafeRawPointer) -> Void
    /// False if Foundation posts messages of this type under the observer's name.
    let isCaptured: Bool

    init<Message>(_ name: MessageName, _ handler: ValueHandler<Message>) {
        type = ObjectIdentifier(Message.self)
        isThreadBound = handler.isThreadBound
        convertible = name.convertible
        isCaptured = name.isCaptured
        // Safety: `handle` is called with the address of a message of this type: by `ObserverHandler` after a check, and
        // by `ObserverCall` for a posted message whose type is `type`.
        handle = { [handle = handler.handle] in handle($0.assumingMemoryBound(to: Message.self).pointee) }
    }

    /// Makes the message of a notification that was posted without it.
    func makeMessage(_ notification: Notification) -> Any? {
        convertible?.makeMessage(notification)
    }
}
