public import Foundation

// Handlers that are async functions.

extension ThreadedNotificationCenter {
    /// Adds an observer with an async handler. A task calls it, one call after the other.
    ///
    ///     let token = center.addObserver(forName: name, transform: { $0.object as? URL }) { url in
    ///         await cache.load(url)
    ///     }
    ///
    /// Notifications that are posted while a call runs wait, under the observer's overflow policy. A closure that is
    /// isolated to an actor runs there. A closure that never awaits runs in a task too, because the call has no `on:`.
    /// To handle on a thread, use `addObserver(forName:on:transform:using:)`.
    ///
    /// Threads: the handler runs on any thread, or on the executor that it prefers, and is never called before `post`
    /// returns. It inherits nothing of the task that posts.
    /// Order: of what one thread posts, the order posted (guarantee 4). Each call begins after the one before has
    /// returned. There is no order with other observers.
    /// Outcome: counted as delivered when the handler has returned, and as waiting until then. `postAndWait` waits for
    /// that. In the handler itself it throws `waitWouldDeadlock`; on the main thread, for a handler that needs the main
    /// actor, it would wait for its timeout.
    /// Removal: by token (guarantee 6). A call that runs continues; its task is not cancelled. When it has returned,
    /// the rest is settled as cancelled. `cancelAndWait` waits for the call; in the handler itself it does not.
    /// Cost: a lock for each notification, a task when nothing waited, and the memory of a mailbox for each observer.
    /// - Parameters:
    ///   - name: the name of the notifications; nil: any.
    ///   - object: the object of the notifications; nil: any.
    ///   - executor: the executor that the handler prefers, such as a `RunLoopThread`; nil: the default. Handlers on a
    ///     thread that is not started wait. After the thread has ended, they run in the background.
    ///   - options: the observer's options. A task has no posts of its own, so only the overflow policy is used.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - transform: called on the posting thread; nil: the observer does not get this notification.
    ///   - handler: called in a task with the value.
    /// - Returns: a token. Keep it: releasing it removes the observer.
    @_disfavoredOverload
    public func addObserver<Value: Sendable>(
        forName name: Notification.Name?, object: Any? = nil, executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?,
        using handler: @escaping @Sendable (Value) async -> Void
    ) -> ObserverToken {
        add(name, object, .awaiting(on: executor, handler), options, SourceLocation(file, line), transform)
    }

    /// Adds an observer of the messages about an object, with an async handler; see
    /// `addObserver(forName:object:executorPreference:options:file:line:transform:using:)`.
    ///
    ///     let token = center.addObserver(of: document, for: .saved) { message in await index.update(message) }
    @_disfavoredOverload
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken where Identifier.MessageType == Message, Message.Subject: AnyObject {
        addMessageObserver(of: subject, .awaiting(on: executor, handler), options, SourceLocation(file, line))
    }

    /// Adds an observer of the messages about any object of a type, with an async handler.
    @_disfavoredOverload
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier,
        executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        addMessageObserver(of: nil, .awaiting(on: executor, handler), options, SourceLocation(file, line))
    }

    /// Adds an observer of the messages of a type about an object, with an async handler; nil: about any object, or
    /// none.
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject?, for messageType: Message.Type,
        executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken where Message.Subject: AnyObject {
        addMessageObserver(of: subject, .awaiting(on: executor, handler), options, SourceLocation(file, line))
    }

    /// Adds an observer of the messages of a type, with an async handler.
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        for messageType: Message.Type, executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken {
        addMessageObserver(of: nil, .awaiting(on: executor, handler), options, SourceLocation(file, line))
    }
}
