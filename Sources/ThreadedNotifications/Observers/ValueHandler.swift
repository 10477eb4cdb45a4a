internal import Foundation

/// A handler that gets values, and the thread that calls it: what the forms of `addObserver` with a value have in
/// common, in both centers.
package struct ValueHandler<Value> {
    enum Function {
        /// Called on the mailbox's thread.
        case direct((Value) -> Void)
        /// Called in a task.
        case async(@Sendable (Value) async -> Void)
    }

    let place: HandlerPlace
    /// True if the handler need not be `Sendable`: it is called and released on the mailbox's thread.
    let isThreadBound: Bool
    let function: Function

    private init(_ mailbox: Mailbox?, isThreadBound: Bool, _ handle: @escaping (Value) -> Void) {
        self.init(.thread(mailbox), isThreadBound: isThreadBound, .direct(handle))
    }

    private init(_ place: HandlerPlace, isThreadBound: Bool, _ function: Function) {
        self.place = place
        self.isThreadBound = isThreadBound
        self.function = function
    }

    package static func on(_ thread: some DeliveryTarget, _ handle: @escaping @Sendable (Value) -> Void) -> Self {
        ValueHandler(thread.targetThread.mailbox, isThreadBound: false, handle)
    }

    package static func onMain(_ handle: @escaping @MainActor (Value) -> Void) -> Self {
        ValueHandler(.main, isThreadBound: true, MainActorClosure.onMainThread(handle))
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

    /// As `isolated(to:_:)`, for a handler that was created in the actor's own code.
    package static func isolatedInside<Target: Actor>(
        _ actor: isolated Target, _ handle: @escaping (Value) -> Void
    ) -> Self? {
        guard let mailbox = actor.mailbox else { return nil }
        return ValueHandler(mailbox, isThreadBound: true) { value in
            ThreadContext.withCurrent { context in ActorJobs.run({ handle(value) }, context) }
        }
    }

    /// A handler that a task calls, one delivery after the other.
    /// - Parameter executor: the executor that the task prefers.
    package static func awaiting(
        on executor: (any TaskExecutor)?, _ handle: @escaping @Sendable (Value) async -> Void
    ) -> Self {
        ValueHandler(HandlerPlace(tasks: TaskMailbox(executor: executor)), isThreadBound: false, .async(handle))
    }

    package func map<Other: Sendable>(_ transform: @escaping @Sendable (Other) -> Value) -> ValueHandler<Other> {
        let mapped: ValueHandler<Other>.Function =
            switch function {
            case .direct(let handle): .direct { handle(transform($0)) }
            case .async(let handle): .async { await handle(transform($0)) }
            }
        return ValueHandler<Other>(place, isThreadBound: isThreadBound, mapped)
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
