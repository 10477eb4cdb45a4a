internal import Foundation

/// What an observer does with a notification.
//
// Safety: what is not Sendable here is called and released on the registration's target thread only, as `ThreadBoundHandler` says.
final class NotificationHandler: @unchecked Sendable {
    enum Kind: Sendable {
        case notification(@Sendable (Notification) -> Void)
        /// Maps it on the posting thread, and handles what that makes of it; nil is not for this observer.
        case value(map: @Sendable (Notification) -> (any Sendable)?, handle: @Sendable (Any) -> Void)
        case threadBound(ThreadBoundHandler)
    }

    let kind: Kind
    /// What is called with the notification, whatever else may be, if `isSimple`. On its own, because to take it out of `kind`
    /// counts a reference, which costs as much as to begin.
    let handle: (Notification) -> Void
    let isSimple: Bool

    init(_ kind: Kind) {
        self.kind = kind
        switch kind {
        case .notification(let handle):
            (self.handle, isSimple) = (handle, true)
        case .value:
            (handle, isSimple) = ({ _ in }, false)
        case .threadBound(let bound):
            (handle, isSimple) = (bound.closure ?? { _ in }, bound.closure != nil)
        }
    }

    /// Whether it may be released on its thread only.
    var isThreadBound: Bool { if case .threadBound = kind { true } else { false } }

    var isMapped: Bool { if case .value = kind { true } else { false } }
}

/// A handler that may be called and released on the thread only on which it was registered.
//
// Safety: it is called on its registration's target thread, which is the thread that made it; and a registration hands it over
// to that thread's mailbox to be released. The weak reference is read on that thread only.
final class ThreadBoundHandler: @unchecked Sendable {
    /// Nil: it is a method of an object.
    let closure: ((Notification) -> Void)?
    private let method: ((AnyObject, Notification) -> Void)?
    private weak var object: AnyObject?
    /// Of the object that it is a method of.
    let objectLife: ObjectLife?

    init(_ handle: @escaping (Notification) -> Void) {
        closure = handle
        method = nil
        objectLife = nil
    }

    init<Object: AnyObject>(_ object: Object, _ handle: @escaping (Object, Notification) -> Void) {
        closure = nil
        method = { object, notification in
            if let object = object as? Object { handle(object, notification) }
        }
        self.object = object
        objectLife = ObjectLife(of: object)
    }

    /// The handler, which retains its object; nil if the object has been deallocated. On the target thread.
    var handle: ((Notification) -> Void)? {
        if let closure { return closure }
        guard let object, let method else { return nil }
        return { method(object, $0) }
    }
}
