public import Foundation

// Observers on a thread, and on the current thread. Those on the main thread and of actors are in `+Actors`.

extension ThreadedNotificationCenter {
    /// Adds an observer whose handler gets a value that a transform makes of the notification. The notification itself,
    /// which is not `Sendable`, stays on the posting thread.
    ///
    /// - Parameters:
    ///   - name: the name of the notifications; nil: any.
    ///   - object: the object of the notifications, compared by identity and not retained; or a hashable value,
    ///     compared by
    ///     equality on the posting threads; nil: any. Any other value stops the program.
    ///   - thread: the thread on which the handler is called.
    ///   - options: the observer's options.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - transform: called on the posting thread; nil: the observer does not get this notification.
    ///   - handler: called on `thread` with the value.
    /// - Returns: a token. Keep it: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at
    ///   once.
    @_disfavoredOverload
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @Sendable (Value) -> Void
    ) -> ObserverToken {
        add(name, object, .on(thread, handler), options, SourceLocation(file, line), transform)
    }

    /// Adds an observer whose handler gets the notification. Its object and userInfo are then used on `thread` too; if
    /// they are not safe there, use a transform.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Notification) -> Void
    ) -> ObserverToken {
        add(name, object, thread.targetThread.mailbox, options, SourceLocation(file, line), .notification(handler))
    }

    /// Adds an observer on the current thread. Its handler need not be `Sendable`: it is called and released on this
    /// thread only.
    ///
    ///     let token = center.addObserver(forName: name, on: .current) { _ in closed += 1 }
    ///
    /// - Parameters:
    ///   - name: the name of the notifications; nil: any.
    ///   - object: the object of the notifications; nil: any.
    ///   - thread: `.current`.
    ///   - options: the observer's options.
    ///   - isolation: the caller's actor. It must run on this thread only, as the main actor and an actor on a
    ///     `RunLoopThread` do; any other actor stops the program. If the actor's thread has ended, the notifications
    ///     are `targetGone`: under an `async` main function without `AsyncMain` the main actor has no thread; see
    ///     `.main`.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - handler: called on this thread.
    /// - Returns: a token. Keep it: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at
    ///   once.
    @available(*, noasync, message: "a task runs on a different thread each time; observe from synchronous code")
    public func addObserver(
        forName name: Notification.Name?, object: Any? = nil, on thread: CurrentThread,
        options: ObserverOptions = ObserverOptions(), isolation: isolated (any Actor)? = #isolation,
        file: String = #fileID, line: Int = #line, using handler: @escaping (Notification) -> Void
    ) -> ObserverToken {
        add(
            name, object, Self.mailbox(of: thread, isolation), options, SourceLocation(file, line),
            .threadBound(handler))
    }

    /// Adds an object on the current thread. One of its methods is the handler, like the selectors of the document.
    ///
    ///     center.addObserver(self, forName: name, on: .current) { $0.windowWillClose($1) }
    ///
    /// Removal: the object is not retained, except while its handler runs. After it has been deallocated, the observer
    /// does not match, and the next post that would match removes it. The object's memory, without anything that the
    /// object retained, is released after that, when the token is released too.
    /// - Parameters:
    ///   - observer: the object.
    ///   - name: the name of the notifications; nil: any.
    ///   - object: the object of the notifications; nil: any.
    ///   - thread: `.current`.
    ///   - options: the observer's options.
    ///   - isolation: the caller's actor, which must run on this thread only.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - handler: called on this thread with the object.
    /// - Returns: a token, to remove the observer earlier. It need not be kept.
    @available(*, noasync, message: "a task runs on a different thread each time; observe from synchronous code")
    @discardableResult
    public func addObserver<Object: AnyObject>(
        _ observer: Object, forName name: Notification.Name?, object: Any? = nil, on thread: CurrentThread,
        options: ObserverOptions = ObserverOptions(), isolation: isolated (any Actor)? = #isolation,
        file: String = #fileID, line: Int = #line, using handler: @escaping (Object, Notification) -> Void
    ) -> ObserverToken {
        add(
            name, object, Self.mailbox(of: thread, isolation), options, SourceLocation(file, line),
            .method(of: WeakReference(observer), ObjectLife(of: observer)) { object, notification in
                if let object = object as? Object { handler(object, notification) }
            }, isRemovedWithToken: false)
    }

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
