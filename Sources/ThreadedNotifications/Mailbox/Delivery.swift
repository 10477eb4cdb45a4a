package import Foundation

/// An entry of a queue: an observer and its payload, or a block, a job or a mark for the thread itself.
//
// Safety: the observer is retained by the queue that has the delivery: see `PendingDeliveries`. A mark is called on the
// thread that enqueued it. Everything else is Sendable.
struct Delivery: @unchecked Sendable {
    enum Content {
        case payload(Payload)
        /// The delivery is with the bounded observer, under this number.
        case ticket(BoundedDeliveries.Number)
        case block(@Sendable () -> Void)
        /// A block that a thread waits for, or that can be cancelled.
        case performed(PerformedBlock)
        case job(UnownedJob, RunLoopThread)
        /// Called when everything before it was delivered. It is no delivery.
        case mark(() -> Void)
        case nothing
    }

    /// Nil: the content is for the thread itself. Not counted, because two threads that count the references of one
    /// object delay each other.
    private(set) var observer: Unmanaged<Observer>?
    var content: Content
    /// True if the center retained the notification: newer ones, which may come before, make it obsolete.
    var isLatest = false
    /// The number of the post in events; 0 if nothing traced.
    var post: UInt64 = 0
    /// The call that waits for the delivery.
    var wait: DeliveryWait?

    init(_ content: Content, for observer: Observer? = nil, post: UInt64 = 0, wait: DeliveryWait? = nil) {
        self.observer = observer.map { .passUnretained($0) }
        (self.content, self.post, self.wait) = (content, post, wait)
    }

    static var nothing: Delivery { Delivery(.nothing) }

    var isMark: Bool { if case .mark = content { true } else { false } }
    var isJob: Bool { if case .job = content { true } else { false } }
    var isBlock: Bool {
        switch content {
        case .block, .performed: true
        default: false
        }
    }
}

/// The argument of a handler, boxed once: the notification itself for all that get it, or the value that a handler
/// prepared.
//
// Safety: a `Notification` is not `Sendable`, and this is the one place where it goes from thread to thread. The lock
// of the queue hands it over. Its object and userInfo are shared with the posting code, as with any notification
// center. A value that is not Sendable is a main actor message, which is posted and handled on the main actor, or is
// made of a notification and handed over.
package class Payload: @unchecked Sendable {
    fileprivate init() {}

    /// The notification's name.
    var name: Notification.Name { Self.isOfWrongType(self) }
    /// The notification's object, for the policy `keepLatest`.
    var object: Any? { nil }
    /// The message, if it can be converted to a notification.
    var convertible: (any NotificationConvertible)? { nil }
    /// The payload as it may outlive the call that posts it.
    func kept(of post: borrowing Post) -> Payload { self }
}

/// A notification that is posted.
//
// Safety: immutable. Its notification goes from thread to thread as `Payload` says.
final class PostedNotification: Payload, @unchecked Sendable {
    let posted: Notification

    init(_ notification: consuming Notification) {
        posted = notification
    }

    override var name: Notification.Name { posted.name }
    override var object: Any? { posted.object }

    override func kept(of post: borrowing Post) -> Payload {
        guard let object = posted.object, type(of: object) is AnyClass else { return self }
        let kept = posted.kept(at: post.location)
        return kept.object == nil ? PostedNotification(kept) : self
    }
}

/// A value: a message that is posted, the result of a transform, or a notification that was matched elsewhere.
//
// Safety: immutable. Its value is Sendable, or is handed over as `Payload` says.
package final class PayloadValue<Value>: Payload, @unchecked Sendable {
    let value: Value
    private let valueName: Notification.Name
    private let valueObject: String?

    package init(_ value: Value, named name: Notification.Name, object: String? = nil) {
        self.value = value
        (valueName, valueObject) = (name, object)
    }

    override var name: Notification.Name { valueName }
    override var object: Any? { valueObject }
    override var convertible: (any NotificationConvertible)? { value as? any NotificationConvertible }
}

extension Payload {
    /// The notification, for a handler that prepares nothing.
    var notification: Notification {
        guard type(of: self) == PostedNotification.self else { Self.isOfWrongType(self) }
        // Safety: the type was compared.
        return unsafeDowncast(self, to: PostedNotification.self).posted
    }

    /// The value, for a handler of values.
    /// - Parameter type: `PayloadValue<Value>`, which the caller keeps because looking it up takes longer than a call.
    func value<Value>(as type: PayloadValue<Value>.Type) -> Value {
        guard Swift.type(of: self) == type else { Self.isOfWrongType(self) }
        return unsafeDowncast(self, to: type).value
    }

    fileprivate static func isOfWrongType(_ payload: Payload) -> Never {
        preconditionFailure(
            "ThreadedNotificationCenter: a \(type(of: payload)) was delivered to the handler "
                + "of another type. This is a defect of this package.")
    }
}
