internal import Foundation

/// Where a handler is called.
struct HandlerPlace {
    /// The thread's mailbox; nil: on the posting thread, or in tasks.
    var mailbox: Mailbox?
    var tasks: TaskMailbox?
}

/// A handler that gets values, and the thread that calls it: what all forms of `addObserver` are made of, in both
/// centers.
package struct ValueHandler<Value> {
    fileprivate enum Function {
        /// Called on the mailbox's thread.
        case direct((Value) -> Void)
        /// Called in a task.
        case async(@Sendable (Value) async -> Void)
    }

    fileprivate let place: HandlerPlace
    /// True if the handler need not be `Sendable`: it is called and released on the mailbox's thread.
    fileprivate let isThreadBound: Bool
    fileprivate let function: Function

    private init(_ mailbox: Mailbox?, isThreadBound: Bool, _ handle: @escaping (Value) -> Void) {
        (place, self.isThreadBound, function) = (HandlerPlace(mailbox: mailbox), isThreadBound, .direct(handle))
    }

    package static func on(_ thread: some DeliveryTarget, _ handle: @escaping @Sendable (Value) -> Void) -> Self {
        ValueHandler(thread.targetThread.mailbox, isThreadBound: false, handle)
    }

    package static func onMain(_ handle: @escaping @MainActor (Value) -> Void) -> Self {
        ValueHandler(.main, isThreadBound: true, MainActorClosure.onMainThread(handle))
    }

    /// Stops the program if the handler could run on another thread than the code that created it.
    static func onCurrent(
        _ thread: CurrentThread, _ isolation: (any Actor)?, _ handle: @escaping (Value) -> Void
    ) -> Self {
        ValueHandler(mailbox(of: thread, isolation), isThreadBound: true, handle)
    }

    /// The mailbox for an observer on the current thread. If the caller's actor had a thread that has ended, it is that
    /// thread's.
    fileprivate static func mailbox(of thread: CurrentThread, _ isolation: (any Actor)?) -> Mailbox? {
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

extension ValueHandler where Value: Sendable {
    /// A handler that is called directly on the actor's thread.
    /// - Returns: nil if the actor runs on no thread.
    package static func isolated<Target: Actor>(
        to actor: Target, _ handle: @escaping @Sendable (isolated Target, Value) -> Void
    ) -> Self? {
        guard let mailbox = actor.mailbox else { return nil }
        return ValueHandler(mailbox, isThreadBound: false) { value in
            ThreadContext.withCurrent { context in
                ActorJobs.run({ actor.assumeIsolated { handle($0, value) } }, context)
            }
        }
    }

    /// A handler that a task calls, one delivery after the other.
    /// - Parameter executor: the executor that the task prefers.
    package static func awaiting(
        on executor: (any TaskExecutor)?, _ handle: @escaping @Sendable (Value) async -> Void
    ) -> Self {
        ValueHandler(
            place: HandlerPlace(tasks: TaskMailbox(executor: executor)), isThreadBound: false, function: .async(handle))
    }

    private init(place: HandlerPlace, isThreadBound: Bool, function: Function) {
        (self.place, self.isThreadBound, self.function) = (place, isThreadBound, function)
    }
}

extension Actor {
    /// The mailbox of the thread on which the actor runs, if it runs on one thread only.
    nonisolated var mailbox: Mailbox? {
        guard let executor = unownedExecutor.asSerialExecutor() else { return nil }
        if let thread = executor as? RunLoopThread { return thread.mailbox }
        return executor === MainActor.sharedUnownedExecutor.asSerialExecutor() ? .main : nil
    }
}

/// The code of an observer and its thread: `prepare` makes the payload on the posting thread; `call` gets it on the
/// target thread.
//
// Safety: `call` need not be Sendable if `isThreadBound`. Then it is called, and this object is released, on the
// thread of the observer's mailbox only: `Observer` hands it over for its release. After that thread has ended nothing
// else can use it.
final class Handler: @unchecked Sendable {
    let place: HandlerPlace
    /// Gets the object too, if the handler is a method of one.
    let call: (Payload, AnyObject?) -> Void
    /// Called in a task, in place of `call`.
    let callInTask: (@Sendable (Payload) async -> Void)?
    /// Nil: it gets the notification as it is.
    let prepare: ((Notification) -> Payload?)?
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
        at place: HandlerPlace, isThreadBound: Bool, message: MessageName? = nil, messageType: ObjectIdentifier? = nil,
        object: AnyObject? = nil, prepare: ((Notification) -> Payload?)? = nil,
        callInTask: (@Sendable (Payload) async -> Void)? = nil, call: @escaping (Payload, AnyObject?) -> Void
    ) {
        (self.call, self.callInTask) = (call, callInTask)
        (self.place, self.isThreadBound, self.prepare) = (place, isThreadBound, prepare)
        (self.message, self.messageType) = (message, messageType)
        (self.object, objectLife) = (object.map { WeakReference($0) }, object.map { ObjectLife(of: $0) })
    }

    private convenience init<Value>(
        _ handler: ValueHandler<Value>, message: MessageName? = nil, messageType: ObjectIdentifier? = nil,
        prepare: ((Notification) -> Payload?)? = nil
    ) {
        // Looking the type up takes longer than a call.
        let type = PayloadValue<Value>.self
        switch handler.function {
        case .direct(let handle):
            self.init(
                at: handler.place, isThreadBound: handler.isThreadBound, message: message, messageType: messageType,
                prepare: prepare
            ) { payload, _ in handle(payload.value(as: type)) }
        case .async(let handle):
            self.init(
                at: handler.place, isThreadBound: handler.isThreadBound, message: message, messageType: messageType,
                prepare: prepare, callInTask: { await handle($0.value(as: type)) }, call: { _, _ in })
        }
    }

    /// Gets the notification as it is.
    static func notification(_ handler: ValueHandler<Notification>) -> Handler {
        guard case .direct(let handle) = handler.function else {
            preconditionFailure("Handler: a notification is no value for a task.")
        }
        return Handler(at: handler.place, isThreadBound: handler.isThreadBound) { payload, _ in
            handle(payload.notification)
        }
    }

    static func method<Object: AnyObject>(
        of object: Object, on thread: CurrentThread, _ isolation: (any Actor)?,
        _ handle: @escaping (Object, Notification) -> Void
    ) -> Handler {
        Handler(
            at: HandlerPlace(mailbox: ValueHandler<Object>.mailbox(of: thread, isolation)), isThreadBound: true,
            object: object
        ) { payload, object in
            // Safety: the caller passes the object that was given here.
            if let object { handle(unsafeDowncast(object, to: Object.self), payload.notification) }
        }
    }

    /// Gets the value that a transform makes of the notification. Nil: it does not get this one.
    static func value<Value: Sendable>(
        _ transform: @escaping @Sendable (Notification) -> Value?, _ handler: ValueHandler<Value>
    ) -> Handler {
        Handler(handler) { notification in transform(notification).map { PayloadValue($0, named: notification.name) } }
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

    /// Gets messages: those that are posted, and those that their type makes of notifications.
    static func message<Message>(_ name: MessageName, _ handler: ValueHandler<Message>) -> Handler {
        Handler(handler, message: name, messageType: ObjectIdentifier(Message.self)) { notification in
            (name.makeMessage(notification) as? Message).map { PayloadValue($0, named: name.name) }
        }
    }
}
