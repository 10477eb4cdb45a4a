internal import Foundation

/// The handler of an observer of messages.
struct MessageHandler {
    let type: ObjectIdentifier
    /// True if it must be released on its thread.
    let isThreadBound: Bool
    let name: MessageName
    /// Called with the address of a message of that type.
    let handle: (UnsafeRawPointer) -> Void

    init<Message>(_ name: MessageName, isThreadBound: Bool, _ handle: @escaping (Message) -> Void) {
        type = ObjectIdentifier(Message.self)
        self.isThreadBound = isThreadBound
        self.name = name
        // Safety: `handle` is called with the address of a message of this type: by `ObserverHandler` after a check,
        // and by `ObserverCall` for a posted message whose type is `type`.
        self.handle = { handle($0.assumingMemoryBound(to: Message.self).pointee) }
    }
}
