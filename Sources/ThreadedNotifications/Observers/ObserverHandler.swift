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
    /// The closure, if `isSimple`. It is stored a second time because extracting it from `kind` counts a reference,
    /// which costs as much as beginning a delivery.
    let handle: (Notification) -> Void
    /// True if the handler is a closure that is always called with the notification.
    let isSimple: Bool
    /// The closure that is called with the address of a message, stored a second time as `handle` is.
    let handleMessage: (UnsafeRawPointer) -> Void

    init(_ kind: Kind) {
        self.kind = kind
        handleMessage = if case .message(let handler) = kind { handler.handle } else { { _ in } }
        switch kind {
        case .notification(let handle): (self.handle, isSimple) = (handle, true)
        case .threadBound(let handle): (self.handle, isSimple) = (handle, true)
        case .value, .message, .async, .method: (handle, isSimple) = ({ _ in }, false)
        }
    }

    /// True if it must be released on its thread.
    var isThreadBound: Bool {
        switch kind {
        case .notification, .async: false
        case .value(_, let isThreadBound, _): isThreadBound
        case .message(let handler): handler.isThreadBound
        case .threadBound, .method: true
        }
    }

    var transforms: Bool {
        switch kind {
        case .value, .message, .async: true
        case .notification, .threadBound, .method: false
        }
    }

    var isAsync: Bool { if case .async = kind { true } else { false } }

    var messageType: ObjectIdentifier? { message?.type }

    var isCaptured: Bool { message?.isCaptured ?? true }

    private var message: MessageHandler? {
        switch kind {
        case .message(let handler): handler
        case .async(let handler): handler.message
        case .notification, .value, .threadBound, .method: nil
        }
    }

    /// The life of the object, if the handler is a method.
    var objectLife: ObjectLife? { if case .method(_, let life, _) = kind { life } else { nil } }
}
