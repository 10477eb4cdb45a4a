public import Foundation

// The observers of notifications. `ThreadedNotificationCenter` documents them together.

extension ThreadedNotificationCenter {
    // MARK: Adding

    /// Adds an observer on the main thread. Its handler is isolated to the main actor.
    ///
    ///     let token = center.addObserver(forName: name, on: .main) { _ in window.close() }
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: MainThread, options: ObserverOptions = .init(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Notification) -> Void
    ) -> ObserverToken { add(name, object, options, SourceLocation(file, line), .notification(.onMain(handler))) }

    /// Adds an observer on the main thread that gets the values of a transform.
    ///
    ///     let token = center.addObserver(
    ///         forName: name, on: .main, transform: { $0.object as? String }, using: { window.title = $0 })
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, on thread: MainThread, options: ObserverOptions = .init(),
        file: String = #fileID, line: Int = #line, transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @MainActor (Value) -> Void
    ) -> ObserverToken { add(name, object, options, SourceLocation(file, line), .value(transform, .onMain(handler))) }

    /// Adds an observer on a thread.
    ///
    ///     let token = center.addObserver(forName: name, on: worker) { notification in … }
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: some DeliveryTarget,
        options: ObserverOptions = .init(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Notification) -> Void
    ) -> ObserverToken { add(name, object, options, SourceLocation(file, line), .notification(.on(thread, handler))) }

    /// Adds an observer on a thread that gets the values of a transform.
    @_disfavoredOverload
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, on thread: some DeliveryTarget,
        options: ObserverOptions = .init(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?, using handler: @escaping @Sendable (Value) -> Void
    ) -> ObserverToken {
        add(name, object, options, SourceLocation(file, line), .value(transform, .on(thread, handler)))
    }

    /// Adds an observer on the current thread. Its handler need not be `Sendable`: it is called and released on this
    /// thread only.
    ///
    ///     let token = center.addObserver(forName: name, on: .current) { _ in closed += 1 }
    /// - Parameter isolation: the caller's actor. It must run on this thread only, as the main actor and an actor on a
    ///   `RunLoopThread` do; any other actor stops the program. If the actor's thread has ended, the notifications are
    ///   `targetGone`: under an `async` main function without `AsyncMain` the main actor has no thread; see `.main`.
    @available(*, noasync, message: "a task runs on a different thread each time; observe from synchronous code")
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: CurrentThread,
        options: ObserverOptions = .init(), isolation: isolated (any Actor)? = #isolation,
        file: String = #fileID, line: Int = #line, using handler: @escaping (Notification) -> Void
    ) -> ObserverToken {
        add(name, object, options, SourceLocation(file, line), .notification(.onCurrent(thread, isolation, handler)))
    }

    /// Adds an object on the current thread. One of its methods is the handler, like the selectors of the document.
    ///
    ///     center.addObserver(self, forName: name, on: .current) { $0.windowWillClose($1) }
    ///
    /// Removal: the object is not retained, except while its handler runs. After it has been deallocated, the observer
    /// does not match, and the next post that would match removes it. The object's memory, without anything that the
    /// object retained, is released after that. There is no token; `removeObserver(_:name:object:)` removes the
    /// observer earlier.
    @available(*, noasync, message: "a task runs on a different thread each time; observe from synchronous code")
    public func addObserver<Object: AnyObject>(
        _ observer: Object, forName name: Notification.Name?, object: Any? = nil, on thread: CurrentThread,
        options: ObserverOptions = .init(), isolation: isolated (any Actor)? = #isolation,
        file: String = #fileID, line: Int = #line, using handler: @escaping (Object, Notification) -> Void
    ) {
        _ = add(
            name, object, options, SourceLocation(file, line), .method(of: observer, on: thread, isolation, handler))
    }

    /// Adds an observer with a handler on an actor that runs on a `RunLoopThread` or on the main thread. The handler is
    /// isolated to the actor and called there directly. The actor is retained until the observer is removed.
    ///
    ///     let token = center.addObserver(
    ///         forName: name, isolatedTo: account, transform: { $0.object as? Int },
    ///         using: { account, amount in account.add(amount) })
    ///
    /// An actor that runs on no thread stops the program. In the code of the actor, `on: .current` does the same with a
    /// handler that need not be `Sendable`.
    public func addObserver<Target: Actor, Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, isolatedTo actor: Target,
        options: ObserverOptions = .init(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @Sendable (isolated Target, Value) -> Void
    ) -> ObserverToken {
        add(name, object, options, SourceLocation(file, line), .value(transform, isolatedTo: actor, handler))
    }

    /// Adds an observer with an async handler. A task calls it, one call after the other.
    ///
    ///     let token = center.addObserver(forName: name, transform: { $0.object as? URL }) { url in
    ///         await cache.load(url)
    ///     }
    ///
    /// Notifications that are posted while a call runs wait, under the observer's overflow policy. A closure that is
    /// isolated to an actor runs there. A closure that never awaits runs in a task too, because the call has no `on:`.
    /// Threads: any, or the executor that the handler prefers, such as a `RunLoopThread`; before that is started the
    /// handler waits, and after its end it runs in the background. It is never called before `post` returns, so
    /// `sameThread` has no effect. It inherits nothing of the task that posts.
    /// Order: of what one thread posts, the order posted (guarantee 4). There is no order with other observers.
    /// Outcome: counted as delivered when the handler has returned, and as waiting until then. `postAndWait` waits for
    /// that. In the handler itself it throws `waitWouldDeadlock`; on the main thread, for a handler that needs the main
    /// actor, it would wait for its timeout.
    /// Removal: a call that runs continues; its task is not cancelled. When it has returned, the rest is settled as
    /// cancelled. `cancelAndWait` waits for the call; in the handler itself it does not.
    /// Cost: a lock for each notification, a task when nothing waited, and the memory of a mailbox for each observer.
    @_disfavoredOverload
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = .init(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @Sendable (Value) async -> Void
    ) -> ObserverToken {
        add(name, object, options, SourceLocation(file, line), .value(transform, .awaiting(on: executor, handler)))
    }

    /// Foundation's method. It blocks the poster, or calls the handler on a thread that nobody chose.
    @available(*, unavailable, message: "name a thread: on: .main, or on: .postingThread for no queue")
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: OperationQueue?,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        fatalError("addObserver(forName:object:queue:using:) is unavailable: no call of it compiles.")
    }

    // MARK: Removing

    /// Removes every observer that was added as this object, as `ObserverToken.cancel()` does each. An object without
    /// observers has no effect. The object is not retained, so that its `deinit` may call this.
    public func removeObserver(_ observer: AnyObject) { removeObserver(observer, name: nil) }

    /// Removes the observers that were added as this object, as `removeObserver(_:)` does, and that asked for this name
    /// and object; nil is every name, or object. A hashable value is compared on this thread.
    ///
    ///     center.removeObserver(self, name: .windowWillClose)
    public func removeObserver(_ observer: AnyObject, name: Notification.Name?, object: Any? = nil) {
        let object = object.map { NotificationObject($0) }
        let receiver = UInt(bitPattern: Unmanaged.passUnretained(observer).toOpaque())
        var added = state.withLock { $0.registry.observers(ofReceiver: receiver) }
        if let token = observer as? ObserverToken, token.isOf(self) { added = [token.observer] }
        for one in added where name == nil || one.name == name {
            if object.map(one.filter.asksFor) ?? true { remove(one, .cancelled) }
        }
    }

    /// Removes an observer, as `ObserverToken.cancel()` does. A token of another center has no effect.
    public func removeObserver(_ token: ObserverToken) { if token.isOf(self) { token.cancel() } }

    // MARK: Queries

    /// True if a post with this name and object would match an observer of this center now. It saves making a
    /// payload without observers:
    ///
    ///     if center.hasObservers(of: .progress) { center.post(name: .progress, userInfo: makeReport()) }
    ///
    /// It is also true if an observer of the name receives the latest notification. Another thread may add an observer
    /// before the post, and a transform may still return nil. Observers that were added to the captured Foundation
    /// center do not count.
    /// Cost: that of finding the observers of a post: see `ThreadedNotificationCenter`.
    public func hasObservers(of name: Notification.Name, object: Any? = nil) -> Bool {
        state.withLock { $0.latest.retains(name.rawValue) }
            || ThreadContext.withCurrent {
                !observers(matching: Notification(name: name, object: object), of: nil, $0).isEmpty
            }
    }

    /// The observers of this center, in the order in which they were added, for debugging.
    ///
    ///     for observer in center.observers { print(observer) }
    ///
    /// Cost: all observers are sorted while the center is locked.
    public var observers: [ObserverDescription] {
        state.withLock { $0.registry.all }.filter { !$0.hasLostItsObject }.map(ObserverDescription.init)
    }
}
