internal import Foundation

/// A message during its post: its type, and its address on the posting thread's stack. So a post on the thread of its
/// observers neither copies the message nor allocates memory for it.
//
// Safety: the address is valid until `post` returns, and is used only until then, on the posting thread. An observer on
// another thread, and one whose delivery waits, gets a copy, which `copy` makes before the delivery is appended. A
// `FanOut`, which keeps the `Post`, delivers to all its observers before `post` returns, in nested drains if need be.
// If a handler ends the thread, `FanOut` settles the other observers without the message.
struct PostedMessage {
    let type: any Any.Type
    let address: UnsafeRawPointer
    /// True if the notification that is posted with it was made of it, and has its userInfo.
    let hasNotification: Bool

    /// - Parameter address: valid until `post` returns.
    @inline(__always)
    init(of type: any Any.Type, at address: UnsafeRawPointer, hasNotification: Bool = false) {
        (self.type, self.address, self.hasNotification) = (type, address, hasNotification)
    }

    /// Calls `body` with the address of a message, for a `Post`.
    static func withAddress<Result>(
        of message: PostedMessage?, _ body: (UnsafePointer<PostedMessage>?) -> Result
    ) -> Result {
        guard let message else { return body(nil) }
        return withUnsafePointer(to: message) { body($0) }
    }

    /// The same message, after its notification was made.
    var withNotification: PostedMessage { PostedMessage(of: type, at: address, hasNotification: true) }

    @inline(__always) var typeIdentifier: ObjectIdentifier { ObjectIdentifier(type) }

    /// A copy of the message.
    var copy: Any {
        func load<Message>(_ type: Message.Type) -> Any { address.load(as: type) }
        return _openExistential(type, do: load)
    }

    /// The notification for observers that do not get the message. Calls foreign code.
    /// - Parameter notification: has only the name and object.
    @inline(never)
    func makeNotification(_ notification: Notification) -> Notification {
        guard let convertible = MessageName.of(type).convertible else { return notification }
        func make<Message: NotificationConvertible>(_ type: Message.Type) -> Notification {
            Message.makeNotification(address.assumingMemoryBound(to: type).pointee)
        }
        return Notification(
            name: notification.name, object: notification.object, userInfo: make(convertible).userInfo)
    }
}
