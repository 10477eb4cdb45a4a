internal import Foundation

/// What an observer does with a notification.
enum NotificationHandler: Sendable {
    case notification(@Sendable (Notification) -> Void)
    /// Maps it on the posting thread, and handles what that makes of it; nil is not for this observer.
    case value(map: @Sendable (Notification) -> (any Sendable)?, handle: @Sendable (any Sendable) -> Void)
    case threadBound(ThreadBoundHandler)
}

/// A handler that may be called and released on the thread only on which it was registered.
//
// Safety: it is called on its registration's target thread, which is the thread that made it; and a registration hands it over
// to that thread's mailbox to be released. The weak reference is read and written atomically.
final class ThreadBoundHandler: @unchecked Sendable {
    private let handle: (AnyObject?, Notification) -> Void
    private let isOfObject: Bool
    private weak var object: AnyObject?

    init(_ handle: @escaping (Notification) -> Void) {
        self.handle = { handle($1) }
        isOfObject = false
    }

    init<Object: AnyObject>(_ object: Object, _ handle: @escaping (Object, Notification) -> Void) {
        self.handle = { object, notification in
            if let object = object as? Object { handle(object, notification) }
        }
        isOfObject = true
        self.object = object
    }

    /// Whether the object that it is a method of is no more.
    var isGone: Bool { isOfObject && object == nil }

    /// What makes sure that the object lives while the handler runs; nil if it is no more.
    func call() -> ((Notification) -> Void)? {
        let object = object
        if isOfObject, object == nil { return nil }
        return { [handle] in handle(object, $0) }
    }
}
