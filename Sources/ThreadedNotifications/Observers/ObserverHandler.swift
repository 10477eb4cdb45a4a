internal import Foundation

/// The handler of an observer.
//
// Safety: the closures of `threadBound`, `method` and a thread-bound `value` or `message` need not be Sendable. They
// are called, and this object is released, on the observer's target thread: `ObserverCall` runs there, and
// `Observer.releaseHandler` passes the object to that thread's mailbox. After that thread has ended nothing else can
// use them, and any thread may release them. `ValueHandler` has Sendable closures for all other values.
final class ObserverHandler: @unchecked Sendable {
    enum Kind {
        /// Called with the notification, on any thread.
        case notification(@Sendable (Notification) -> Void)
        /// Called with the value that `transform` returned on the posting thread. Nil: the observer does not get this
        /// notification. If `isThreadBound`, `handle` is called and released on one thread.
        case value(
            transform: @Sendable (Notification) -> (any Sendable)?, isThreadBound: Bool = false,
            handle: (Any) -> Void)
        /// Called with a message: the one that was posted, or one that was made of the notification on the posting
        /// thread.
        case message(MessageHandler)
        /// Called in a task.
        case async(AsyncHandler)
        /// Called and released on one thread.
        case threadBound((Notification) -> Void)
        /// A method of an object that is not retained.
        case method(of: WeakReference<AnyObject>, ObjectLife, (AnyObject, Notification) -> Void)
    }

    let kind: Kind
    // The closures, of which one is used. They are stored a second time because extracting one from `kind` counts a
    // reference, which costs as much as beginning a delivery.
    private let notificationHandler: (Notification) -> Void
    private let valueHandler: (Any) -> Void
    private let messageHandler: (UnsafeRawPointer) -> Void
    // The rest is read once for each observer, and stored because extracting it from `kind` copies all of that.
    /// True if the handler is a closure that is always called with the notification.
    let isSimple: Bool
    /// True if it must be released on its thread.
    let isThreadBound: Bool
    /// True if what it gets is made on the posting thread.
    let transforms: Bool
    let isAsync: Bool
    let messageType: ObjectIdentifier?
    let isCaptured: Bool
    /// The life of the object, if the handler is a method.
    let objectLife: ObjectLife?

    init(_ kind: Kind) {
        self.kind = kind
        var handle: (Notification) -> Void = { _ in }
        var handleValue: (Any) -> Void = { _ in }
        var handleMessage: (UnsafeRawPointer) -> Void = { _ in }
        var (isSimple, isThreadBound, isAsync, isCaptured) = (false, false, false, true)
        var messageType: ObjectIdentifier?
        var objectLife: ObjectLife?
        switch kind {
        case .notification(let closure): (handle, isSimple) = (closure, true)
        case .threadBound(let closure): (handle, isSimple, isThreadBound) = (closure, true, true)
        case .value(_, let isBound, let closure): (handleValue, isThreadBound) = (closure, isBound)
        case .message(let message):
            (handleMessage, isThreadBound) = (message.handle, message.isThreadBound)
            (messageType, isCaptured) = (message.type, message.name.isCaptured)
        case .async(let handler):
            (isAsync, messageType, isCaptured) = (true, handler.messageType, handler.isCaptured)
        case .method(_, let life, _): (objectLife, isThreadBound) = (life, true)
        }
        (notificationHandler, valueHandler, messageHandler) = (handle, handleValue, handleMessage)
        (self.isSimple, self.isThreadBound, self.isAsync) = (isSimple, isThreadBound, isAsync)
        (self.messageType, self.isCaptured, self.objectLife) = (messageType, isCaptured, objectLife)
        transforms = !isSimple && objectLife == nil
    }

    // The following are not inlined, because a caller that reads a closure of an unretained object counts a reference.

    /// Calls the handler, if `isSimple`.
    @inline(never)
    func handle(_ notification: Notification) { notificationHandler(notification) }

    /// Calls the handler with a value that its transform returned.
    @inline(never)
    func handleValue(_ value: Any) { valueHandler(value) }

    /// Calls the handler with the message at an address.
    @inline(never)
    func handleMessage(_ address: UnsafeRawPointer) { messageHandler(address) }

    /// Calls the handler with a copy of a message of its type.
    func handleMessage(copy message: Any) {
        func open<Message>(_ message: Message) {
            guard ObjectIdentifier(Message.self) == messageType else { Delivery.isOfWrongType(message) }
            withUnsafePointer(to: message) { handleMessage(UnsafeRawPointer($0)) }
        }
        _openExistential(message, do: open)
    }
}
