internal import Foundation

/// The name of a message type, and its conversions. There is one instance for each type.
final class MessageName: Sendable {
    let name: Notification.Name
    /// Nil: the message is not converted.
    let convertible: (any NotificationConvertible.Type)?
    /// False if Foundation posts messages of the type under this name. It ends the process if an observer of
    /// notifications with the name meets one.
    let isCaptured: Bool

    static let known = Locked<[ObjectIdentifier: MessageName]>([:], isTakenToFork: true)

    private init(_ type: any Any.Type) {
        convertible = type as? any NotificationConvertible.Type
        name = convertible?.name ?? Notification.Name(Self.typeName(type))
        isCaptured = name.rawValue != Self.typeName(type)
    }

    static func of(_ type: any Any.Type) -> MessageName {
        let identifier = ObjectIdentifier(type)
        if let name = known.withLock({ $0[identifier] }) { return name }
        // Without the lock, because the name may be computed by foreign code.
        let new = MessageName(type)
        return known.withLock { known in
            if let name = known[identifier] { return name }
            known[identifier] = new
            return new
        }
    }

    /// Makes the message of a notification that was posted without it. Nil: it is not converted.
    func makeMessage(_ notification: Notification) -> Any? { convertible?.makeMessage(notification) }

    /// The name of a message type for Foundation on Linux, which ignores `NotificationConvertible`.
    static func typeName(_ type: any Any.Type) -> String { _typeName(type) }
}
