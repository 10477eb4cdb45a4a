public import Foundation

// Handlers that are isolated to an actor that runs on one thread: the main actor, or an actor on a `RunLoopThread`.

// MARK: The main actor

extension ThreadedNotificationCenter {
    /// Adds an observer on the main thread. Its handler is isolated to the main actor, and gets the notification. Its
    /// object and userInfo are then used on the main thread too; if they are not safe there, use a transform.
    ///
    ///     let token = center.addObserver(forName: name, on: .main) { _ in window.close() }
    ///
    /// Removal: the handler is released on the main thread.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: MainThread,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Notification) -> Void
    ) -> ObserverToken {
        add(
            name, object, .main, options, SourceLocation(file, line),
            .threadBound(MainActorClosure.onMainThread(handler)))
    }

    /// Adds an observer on the main thread. Its handler is isolated to the main actor, and gets the value that a
    /// transform makes of the notification on the posting thread.
    ///
    ///     let token = center.addObserver(
    ///         forName: name, on: .main, transform: { $0.object as? String }, using: { window.title = $0 })
    ///
    /// Removal: the handler is released on the main thread.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, on thread: MainThread,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @MainActor (Value) -> Void
    ) -> ObserverToken {
        add(name, object, .onMain(handler), options, SourceLocation(file, line), transform)
    }

    /// Adds an observer with a handler on the main actor: the same as `on: .main`.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, isolatedTo actor: MainActor,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @MainActor (Value) -> Void
    ) -> ObserverToken {
        addObserver(
            forName: name, object: object, on: .main, options: options, file: file, line: line, transform: transform,
            using: handler)
    }

    /// Adds an observer with a handler on the main actor that gets the actor and the value.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, isolatedTo actor: MainActor,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @MainActor (MainActor, Value) -> Void
    ) -> ObserverToken {
        addObserver(
            forName: name, object: object, on: .main, options: options, file: file, line: line, transform: transform,
            using: { handler(actor, $0) })
    }
}

// MARK: Other actors

extension ThreadedNotificationCenter {
    /// Adds an observer with a handler on an actor that runs on a `RunLoopThread` or on the main thread. The handler is
    /// isolated to the actor and called there directly. The actor is retained until the observer is removed.
    ///
    ///     let token = try center.addObserver(
    ///         forName: name, isolatedTo: account, transform: { $0.object as? Int },
    ///         using: { account, amount in account.balance += amount })
    ///
    /// - Parameters:
    ///   - name: the name of the notifications; nil: any.
    ///   - object: the object of the notifications; nil: any.
    ///   - actor: the actor.
    ///   - options: the observer's options.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - transform: called on the posting thread; nil: the observer does not get this notification.
    ///   - handler: called on the actor's thread with the actor and the value.
    /// - Returns: a token. Keep it: releasing it removes the observer, and
    ///   `_ = try center.addObserver(…)` removes it at once.
    /// - Throws: `DeliveryError` with the code `actorNotPinned`.
    @_disfavoredOverload
    public func addObserver<Target: Actor, Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, isolatedTo actor: Target,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @Sendable (isolated Target, Value) -> Void
    ) throws(DeliveryError) -> ObserverToken {
        add(name, object, try .isolated(to: actor, handler), options, SourceLocation(file, line), transform)
    }

    /// Adds an observer from the code of an actor that runs on a `RunLoopThread` or on the main thread. The handler is
    /// isolated to the actor, and need not be `Sendable`.
    ///
    ///     token = try center.addObserver(
    ///         forName: name, isolatedTo: self, transform: { $0.object as? Int },
    ///         using: { amount in self.balance += amount })
    ///
    /// Removal: the handler is released on the actor's thread. It retains the actor if it uses it; an actor that keeps
    /// the token therefore lives until it cancels.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = try center.addObserver(…)` removes it at once.
    /// - Throws: `DeliveryError` with the code `actorNotPinned`.
    @_disfavoredOverload
    public func addObserver<Target: Actor, Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, isolatedTo actor: isolated Target,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping (Value) -> Void
    ) throws(DeliveryError) -> ObserverToken {
        add(name, object, try .isolatedInside(actor, handler), options, SourceLocation(file, line), transform)
    }
}
