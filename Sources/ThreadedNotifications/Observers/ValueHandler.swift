internal import Foundation

/// A handler that gets values, and the thread that calls it: what the forms of `addObserver` with a value have in
/// common, in both centers.
package struct ValueHandler<Value> {
    /// Nil: the posting thread.
    let mailbox: ThreadMailbox?
    /// True if the handler need not be `Sendable`: it is called and released on the mailbox's thread.
    let isThreadBound: Bool
    let handle: (Value) -> Void
    /// The handler, if it is async; then `handle` is not called.
    let handleAsync: (@Sendable (Any) async -> Void)?

    private init(
        _ mailbox: ThreadMailbox?, isThreadBound: Bool, async handleAsync: (@Sendable (Any) async -> Void)? = nil,
        _ handle: @escaping (Value) -> Void
    ) {
        self.mailbox = mailbox
        self.isThreadBound = isThreadBound
        self.handleAsync = handleAsync
        self.handle = handle
    }

    package static func on(_ thread: some DeliveryTarget, _ handle: @escaping @Sendable (Value) -> Void) -> Self {
        ValueHandler(thread.targetThread.mailbox, isThreadBound: false, handle)
    }

    package static func onMain(_ handle: @escaping @MainActor (Value) -> Void) -> Self {
        ValueHandler(.main, isThreadBound: true, MainActorClosure.onMainThread(handle))
    }

    func kind(_ message: MessageHandler) -> ObserverHandler.Kind {
        guard let handleAsync else { return .message(message) }
        return .async(AsyncHandler(makeValue: message.makeMessage, message: message, handle: handleAsync))
    }
}

extension ValueHandler where Value: Sendable {
    /// A handler that is called directly on the actor's thread.
    /// - Throws: `DeliveryError` with the code `actorNotPinned`.
    package static func isolated<Target: Actor>(
        to actor: Target, _ handle: @escaping @Sendable (isolated Target, Value) -> Void
    ) throws(DeliveryError) -> Self {
        ValueHandler(try actor.threadMailbox, isThreadBound: false) { value in
            ThreadContext.withCurrent { context in
                ActorJobs.run({ actor.assumeIsolated { handle($0, value) } }, context)
            }
        }
    }

    /// As `isolated(to:_:)`, for a handler that was created in the actor's own code.
    package static func isolatedInside<Target: Actor>(
        _ actor: isolated Target, _ handle: @escaping (Value) -> Void
    ) throws(DeliveryError) -> Self {
        ValueHandler(try actor.threadMailbox, isThreadBound: true) { value in
            ThreadContext.withCurrent { context in ActorJobs.run({ handle(value) }, context) }
        }
    }

    /// A handler that a task calls, one delivery after the other.
    /// - Parameter executor: the executor that the task prefers.
    package static func awaiting(
        on executor: (any TaskExecutor)?, _ handle: @escaping @Sendable (Value) async -> Void
    ) -> Self {
        ValueHandler(
            ThreadMailbox(drainedBy: TaskDrain(executor: executor)), isThreadBound: false,
            async: { if let value = $0 as? Value { await handle(value) } }, { _ in })
    }

    package func map<Other: Sendable>(_ transform: @escaping @Sendable (Other) -> Value) -> ValueHandler<Other> {
        let mappedAsync = handleAsync.map { handle -> @Sendable (Any) async -> Void in
            { if let other = $0 as? Other { await handle(transform(other)) } }
        }
        return ValueHandler<Other>(mailbox, isThreadBound: isThreadBound, async: mappedAsync) { [handle] in
            handle(transform($0))
        }
    }

    /// The handler of an observer, with a transform of the notification to the value.
    func kind(transform: @escaping @Sendable (Notification) -> Value?) -> ObserverHandler.Kind {
        if let handleAsync {
            return .async(AsyncHandler(makeValue: transform, message: nil, handle: handleAsync))
        }
        return .value(transform: transform, isThreadBound: isThreadBound) { [handle] in
            if let value = $0 as? Value { handle(value) }
        }
    }
}

extension Actor {
    /// The mailbox of the thread on which the actor runs, if it runs on one thread only.
    nonisolated var mailbox: ThreadMailbox? {
        guard let executor = unownedExecutor.asSerialExecutor() else { return nil }
        if let thread = executor as? RunLoopThread { return thread.mailbox }
        return executor === MainActor.sharedUnownedExecutor.asSerialExecutor() ? .main : nil
    }

    fileprivate nonisolated var threadMailbox: ThreadMailbox {
        get throws(DeliveryError) {
            guard let mailbox else { throw .actorNotPinned(actor: "\(Self.self)") }
            return mailbox
        }
    }
}
