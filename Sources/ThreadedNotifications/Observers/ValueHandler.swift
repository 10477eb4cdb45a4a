internal import Foundation

/// A handler that gets values, and the thread that calls it: what the forms of `addObserver` with a value have in
/// common, in both centers.
package struct ValueHandler<Value> {
    /// Nil: the posting thread.
    let mailbox: ThreadMailbox?
    /// True if the handler need not be `Sendable`: it is called and released on the mailbox's thread.
    let isThreadBound: Bool
    let handle: (Value) -> Void

    private init(_ mailbox: ThreadMailbox?, isThreadBound: Bool, _ handle: @escaping (Value) -> Void) {
        self.mailbox = mailbox
        self.isThreadBound = isThreadBound
        self.handle = handle
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

    package func map<Other: Sendable>(_ transform: @escaping @Sendable (Other) -> Value) -> ValueHandler<Other> {
        ValueHandler<Other>(mailbox, isThreadBound: isThreadBound) { [handle] in handle(transform($0)) }
    }

    /// The handler of an observer, with a transform of the notification to the value.
    func kind(transform: @escaping @Sendable (Notification) -> Value?) -> ObserverHandler.Kind {
        .value(transform: transform, isThreadBound: isThreadBound) { [handle] in
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
