internal import Foundation

/// The name of a message type, and its conversions. There is one instance for each type.
final class MessageName: Sendable {
    let name: Notification.Name
    /// Nil: the message is not converted.
    let convertible: (any NotificationConvertible.Type)?
    /// False if Foundation posts messages of the type under this name. It ends the process if an observer of
    /// notifications with the name meets one.
    let isCaptured: Bool

    static let known = Locked<[ObjectIdentifier: MessageName]>([:])

    private init(_ type: any Any.Type) {
        convertible = type as? any NotificationConvertible.Type
        name = convertible?.name ?? Notification.Name(Self.typeName(type))
        isCaptured = name.rawValue != Self.typeName(type)
    }

    static func of(_ type: any Any.Type) -> MessageName {
        let identifier = ObjectIdentifier(type)
        // The one that the thread asked for last.
        if let (last, name) = ThreadContext.withCurrent(\.messageName), last == identifier { return name }
        // Made without the lock, because the name may be computed by foreign code.
        let found = known.withLock { $0[identifier] } ?? MessageName(type)
        let name = known.withLock { known in
            let name = known[identifier] ?? found
            known[identifier] = name
            return name
        }
        ThreadContext.withCurrent { $0.messageName = (identifier, name) }
        return name
    }

    /// Makes the message of a notification that was posted without it. Nil: it is not converted.
    func makeMessage(_ notification: Notification) -> Any? { convertible?.makeMessage(notification) }

    /// The name of a message type for Foundation on Linux, which ignores `NotificationConvertible`.
    static func typeName(_ type: any Any.Type) -> String { _typeName(type) }
}
