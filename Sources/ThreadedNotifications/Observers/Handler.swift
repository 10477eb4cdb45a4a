internal import Foundation

/// What an observer does, and where: `prepare` makes what it gets, on the posting thread; `function` gets that on the
/// target thread. Each form of `addObserver` makes one.
//
// Safety: `function` need not be Sendable if `isThreadBound`. Then it is called, and this object is released, on the
// thread of the observer's mailbox only: `Observer` hands it over for its release. After that thread has ended nothing
// else can use it.
final class Handler: @unchecked Sendable {
    typealias Prepare = (Notification, Post) -> Payload?

    enum Function {
        /// Gets the object too, if the handler is a method of one.
        case direct((Payload, AnyObject?) -> Void)
        /// Called in a task.
        case async(@Sendable (Payload) async -> Void)
    }

    let place: HandlerPlace
    let function: Function
    /// Nil: it gets the notification as it is.
    let prepare: Prepare?
    /// True if it must be called and released on one thread.
    let isThreadBound: Bool
    /// The message that it gets.
    let message: MessageName?
    /// The type of the messages that it gets as they are.
    let messageType: ObjectIdentifier?
    /// The object, if the handler is a method. It is not retained.
    let object: WeakReference<AnyObject>?
    let objectLife: ObjectLife?

    private init(
        _ function: Function, at place: HandlerPlace, isThreadBound: Bool, message: MessageName? = nil,
        messageType: ObjectIdentifier? = nil, object: AnyObject? = nil, prepare: Prepare? = nil
    ) {
        (self.function, self.place, self.isThreadBound, self.prepare) = (function, place, isThreadBound, prepare)
        (self.message, self.messageType) = (message, messageType)
        (self.object, objectLife) = (object.map { WeakReference($0) }, object.map { ObjectLife(of: $0) })
    }

    private convenience init<Value>(
        _ handler: ValueHandler<Value>, message: MessageName? = nil, messageType: ObjectIdentifier? = nil,
        prepare: Prepare? = nil
    ) {
        self.init(
            handler.function.ofPayload, at: handler.place, isThreadBound: handler.isThreadBound, message: message,
            messageType: messageType, prepare: prepare)
    }

    /// Calls a direct handler.
    @inline(__always)
    func call(_ payload: Payload, _ object: AnyObject?) {
        if case .direct(let function) = function { function(payload, object) }
    }

    // MARK: Notifications

    static func notification(
        on thread: some DeliveryTarget, _ handle: @escaping @Sendable (Notification) -> Void
    ) -> Handler {
        notification(at: thread.targetThread.mailbox, isThreadBound: false, handle)
    }

    static func notificationOnMain(_ handle: @escaping @MainActor (Notification) -> Void) -> Handler {
        notification(at: .main, isThreadBound: true, MainActorClosure.onMainThread(handle))
    }

    static func notification(
        on thread: CurrentThread, _ isolation: (any Actor)?, _ handle: @escaping (Notification) -> Void
    ) -> Handler {
        notification(at: mailbox(of: thread, isolation), isThreadBound: true, handle)
    }

    private static func notification(
        at mailbox: Mailbox?, isThreadBound: Bool, _ handle: @escaping (Notification) -> Void
    ) -> Handler {
        Handler(
            .direct { payload, _ in handle(payload.notification) }, at: .thread(mailbox), isThreadBound: isThreadBound)
    }

    static func method<Object: AnyObject>(
        of object: Object, on thread: CurrentThread, _ isolation: (any Actor)?,
        _ handle: @escaping (Object, Notification) -> Void
    ) -> Handler {
        Handler(
            .direct { payload, object in
                // Safety: the caller passes the object that was given here.
                if let object { handle(unsafeDowncast(object, to: Object.self), payload.notification) }
            }, at: .thread(mailbox(of: thread, isolation)), isThreadBound: true, object: object)
    }

    // MARK: Values

    /// Gets the value that a transform makes of the notification. Nil: it does not get this one.
    static func value<Value: Sendable>(
        _ transform: @escaping @Sendable (Notification) -> Value?, _ handler: ValueHandler<Value>
    ) -> Handler {
        Handler(handler) { notification, _ in
            transform(notification).map { PayloadValue($0, named: notification.name) }
        }
    }

    /// Stops the program if the actor runs on no thread.
    static func value<Target: Actor, Value: Sendable>(
        _ transform: @escaping @Sendable (Notification) -> Value?, isolatedTo actor: Target,
        _ handle: @escaping @Sendable (isolated Target, Value) -> Void
    ) -> Handler {
        guard let handler = ValueHandler.isolated(to: actor, handle) else {
            preconditionFailure(
                """
                ThreadedNotificationCenter: the actor \(Target.self) runs on no RunLoopThread, so nothing can be \
                delivered to it on its thread. Give it a `let thread: RunLoopThread` and `nonisolated var \
                unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }`.
                """)
        }
        return value(transform, handler)
    }

    /// Gets values that were matched elsewhere.
    static func values<Value>(_ handler: ValueHandler<Value>) -> Handler { Handler(handler) }

    // MARK: Messages

    /// Gets messages: those that are posted, and those that their type makes of notifications.
    static func message<Message>(_ name: MessageName, _ handler: ValueHandler<Message>) -> Handler {
        Handler(handler, message: name, messageType: ObjectIdentifier(Message.self)) { notification, _ in
            (name.makeMessage(notification) as? Message).map { PayloadValue($0, named: name.name) }
        }
    }

    // MARK: -

    /// The mailbox for an observer on the current thread. If the caller's actor had a thread that has ended, it is that
    /// thread's. Stops the program if the handler could run on another thread than the code that created it.
    private static func mailbox(of thread: CurrentThread, _ isolation: (any Actor)?) -> Mailbox? {
        precondition(
            thread.targetThread.mailbox?.isCurrent == true,
            "ThreadedNotificationCenter: .current was evaluated on another thread. Write on: .current in the call.")
        guard let isolation else { return thread.targetThread.mailbox }
        guard let mailbox = isolation.mailbox else {
            preconditionFailure(
                """
                ThreadedNotificationCenter: \(type(of: isolation)) is bound to no thread, so a handler on the current \
                thread could run beside it. Give the actor a RunLoopThread as its executor, or use \
                addObserver(forName:on:transform:using:).
                """)
        }
        if mailbox.isMain, !mailbox.isCurrent { MainThreadEnd.found() }
        return mailbox
    }
}

extension ValueHandler.Function {
    fileprivate var ofPayload: Handler.Function {
        let type = PayloadValue<Value>.self
        switch self {
        case .direct(let handle): return .direct { payload, _ in handle(payload.value(as: type)) }
        case .async(let handle): return .async { await handle($0.value(as: type)) }
        }
    }
}
