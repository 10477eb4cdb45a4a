internal import Foundation

/// What an observer calls, and where: each form of `addObserver` makes one.
struct Handler {
    /// Nil: the posting thread.
    let mailbox: ThreadMailbox?
    let kind: ObserverHandler.Kind
    /// False for a method: the end of its object removes the observer.
    var isRemovedWithToken = true

    // MARK: Notifications

    static func notification(
        on thread: some DeliveryTarget, _ handle: @escaping @Sendable (Notification) -> Void
    ) -> Handler {
        Handler(mailbox: thread.targetThread.mailbox, kind: .notification(handle))
    }

    static func notificationOnMain(_ handle: @escaping @MainActor (Notification) -> Void) -> Handler {
        Handler(mailbox: .main, kind: .threadBound(MainActorClosure.onMainThread(handle)))
    }

    static func notification(
        on thread: CurrentThread, _ isolation: (any Actor)?, _ handle: @escaping (Notification) -> Void
    ) -> Handler {
        Handler(mailbox: mailbox(of: thread, isolation), kind: .threadBound(handle))
    }

    static func method<Object: AnyObject>(
        of object: Object, on thread: CurrentThread, _ isolation: (any Actor)?,
        _ handle: @escaping (Object, Notification) -> Void
    ) -> Handler {
        Handler(
            mailbox: mailbox(of: thread, isolation),
            kind: .method(of: WeakReference(object), ObjectLife(of: object)) { object, notification in
                if let object = object as? Object { handle(object, notification) }
            }, isRemovedWithToken: false)
    }

    // MARK: Values

    static func value<Value: Sendable>(
        _ transform: @escaping @Sendable (Notification) -> Value?, _ handler: ValueHandler<Value>
    ) -> Handler {
        Handler(mailbox: handler.mailbox, kind: handler.kind(transform: transform))
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

    // MARK: Messages

    static func message<Message>(_ name: MessageName, _ handler: ValueHandler<Message>) -> Handler {
        Handler(mailbox: handler.mailbox, kind: handler.kind(name))
    }

    // MARK: -

    /// The mailbox for an observer on the current thread. If the caller's actor had a thread that has ended, it is that
    /// thread's. Stops the program if the handler could run on another thread than the code that created it.
    private static func mailbox(of thread: CurrentThread, _ isolation: (any Actor)?) -> ThreadMailbox? {
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
