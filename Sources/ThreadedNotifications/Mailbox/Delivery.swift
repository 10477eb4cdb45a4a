internal import Foundation

/// An entry of a mailbox: a notification or a value for one observer, or an action.
///
/// Most entries are notifications, and copying a struct of words is the cheapest for them; `rare` has the rest.
//
// Safety: a `Notification` is not `Sendable`, and this is the one place where it goes from thread to thread. The
// mailbox's lock hands it over. Its object and userInfo are shared with the posting code, as with any notification
// center; code that posts what is unsafe on another thread should use a transform. A fan-out stays on its thread. The
// observer is retained by the chunk of the mailbox that has this entry, or by `rare`.
struct Delivery: PendingItem, @unchecked Sendable {
    enum Action {
        /// A block that no thread waits for.
        case block(@Sendable () -> Void)
        /// The rest of a post for several observers on this thread, from a slot on.
        case fanOut(FanOut, slot: Int)
        /// A block that a thread waits for, or that can be cancelled.
        case performed(PerformedBlock)
        /// A job of the thread as an executor.
        case job(UnownedJob, RunLoopThread)
    }

    /// Rarely used fields.
    private final class Rare {
        var wait: DeliveryWait?
        var key: NotificationKey?
        var observer: Observer?
        var isRetained = false
    }

    /// Nil: an action.
    private let observer: Unmanaged<Observer>?
    /// For a value or an action, that as its object, which stores three words without an allocation. A message has no
    /// name here: see `name(for:)`.
    let notification: Notification
    /// The number of the post in events; 0 if nothing traced.
    let post: UInt64
    private let rare: Rare?

    /// A notification. The caller has the mailbox's chunk retain the observer.
    @inline(__always)
    init(_ notification: Notification, for observer: Observer, post: UInt64, wait: DeliveryWait?) {
        self.observer = .passUnretained(observer)
        self.notification = notification
        self.post = post
        rare = wait.map { wait in
            let rare = Rare()
            rare.wait = wait
            return rare
        }
    }

    /// A value. The caller has the mailbox's chunk retain the observer.
    @inline(__always)
    init(value: Any, named name: Notification.Name, for observer: Observer, post: UInt64, wait: DeliveryWait?) {
        self.init(Notification(name: name, object: value), for: observer, post: post, wait: wait)
    }

    /// A message. The caller has the mailbox's chunk retain the observer.
    @inline(__always)
    init(message: Any, for observer: Observer, post: UInt64, wait: DeliveryWait?) {
        self.init(value: message, named: Notification.Name(""), for: observer, post: post, wait: wait)
    }

    /// The same delivery for an observer with a limiting policy. It retains the observer.
    init(_ delivery: Delivery, bounded observer: Observer, key: NotificationKey?) {
        self.observer = .passUnretained(observer)
        notification = delivery.notification
        post = delivery.post
        let rare = Rare()
        (rare.wait, rare.key, rare.observer) = (delivery.wait, key, observer)
        rare.isRetained = delivery.isRetained
        self.rare = rare
    }

    /// The same delivery, of a notification that the center retained for a new observer.
    var retained: Delivery {
        let rare = Rare()
        (rare.wait, rare.isRetained) = (wait, true)
        return Delivery(observer: observer, notification: notification, post: post, rare: rare)
    }

    private init(observer: Unmanaged<Observer>?, notification: Notification, post: UInt64, rare: Rare) {
        (self.observer, self.notification, self.post, self.rare) = (observer, notification, post, rare)
    }

    /// - Parameter post: the number of a block.
    @inline(__always)
    init(_ action: Action, post: UInt64 = 0) {
        self.init(object: action, post: post)
    }

    @inline(__always)
    private init(object: Any?, post: UInt64) {
        observer = nil
        notification = Notification(name: Notification.Name(""), object: object)
        self.post = post
        rare = nil
    }

    /// Made once, because Foundation's initializer is not inlined.
    static let nothing = Delivery(object: nil, post: 0)

    /// The observer, retained; nil for an action.
    var retainedObserver: Observer? { observer?.takeUnretainedValue() }

    /// The name that was posted: the observer's, unless it observes any name. A message's name is not stored here: two
    /// threads that count the references to one string delay each other.
    func name(for observer: Observer) -> Notification.Name { observer.name ?? notification.name }

    var action: Action? { observer == nil ? notification.object as? Action : nil }
    /// The value, if this is the delivery of one.
    var value: Any? { notification.object }
    @inline(__always) var wait: DeliveryWait? { rare?.wait }
    /// A delivered value as its handler takes it.
    static func value<Value>(_ value: Any) -> Value {
        guard let value = value as? Value else { isOfWrongType(value) }
        return value
    }

    /// - Parameter value: nil: no value was delivered to a handler that takes one.
    static func isOfWrongType(_ value: Any?) -> Never {
        preconditionFailure(
            "ThreadedNotificationCenter: \(value.map { "a \(type(of: $0))" } ?? "no value") was delivered to the handler "
                + "of another type. This is a defect of this package.")
    }

    /// The key of a later notification that replaces this one, under the policy `keepLatest`.
    var key: NotificationKey? { rare?.key }

    /// True if newer notifications for the observer, which may come before, make it obsolete.
    var isRetained: Bool { rare?.isRetained ?? false }

    /// The delivery is about to begin.
    /// - Returns: false if it is obsolete: the observer was called with a newer notification.
    @inline(__always)
    func begins(for observer: Observer) -> Bool {
        guard let rare else { return true }
        rare.wait?.deliveryBegins(to: observer.id)
        return !(rare.isRetained && observer.wasCalled)
    }

    /// Calls `body` with the observer, without counting a reference.
    /// - Returns: false if this is an action.
    @inline(__always)
    func withObserver(_ body: (Observer) -> Void) -> Bool {
        guard let observer else { return false }
        observer._withUnsafeGuaranteedRef(body)
        return true
    }
}
