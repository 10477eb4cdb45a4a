public import Foundation

// The observers of messages. `ThreadedNotificationCenter` documents them together.

extension ThreadedNotificationCenter {
    // MARK: On a thread

    /// Adds an observer on the main thread of the messages of a type. Its handler is isolated to the main actor.
    ///
    ///     let token = center.addObserver(of: document, for: Saved.self, on: .main) { message in … }
    ///
    /// - Parameter subject: the object of the messages, compared by identity and not retained; nil: any, or none.
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, on thread: MainThread,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken {
        add(of: subject, options, SourceLocation(file, line), .onMain(handler))
    }

    /// Adds an observer on a thread of the messages of a type.
    ///
    ///     let token = center.addObserver(of: document, for: Saved.self, on: worker) { message in … }
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObserverToken {
        add(of: subject, options, SourceLocation(file, line), .on(thread, handler))
    }

    // MARK: As Foundation's: a main actor message on the main thread, an async message in a task

    /// Adds an observer of the main actor messages of a type. Its handler is called on the main thread, which delivers
    /// while it runs its run loop; see `.main`.
    ///
    ///     let token = center.addObserver(of: window, for: Resized.self) { message in … }
    //
    // Safety: a main actor message need not be Sendable. One that was posted as a message was posted on the main actor,
    // and is handled there. One that was made of a notification on another thread is handed over by the mailbox, as the
    // notification would be, and the thread that made it keeps no copy.
    public func addObserver<Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken {
        add(of: subject, options, SourceLocation(file, line), .onMain(handler))
    }

    /// Adds an observer of the main actor messages with an identifier.
    ///
    ///     let token = center.addObserver(of: window, for: .resized) { message in … }
    public func addObserver<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage
    >(
        of subject: Message.Subject? = nil, for identifier: Identifier, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        add(of: subject, options, SourceLocation(file, line), .onMain(handler))
    }

    /// Adds an observer of the messages of a type, with an async handler. See
    /// `addObserver(forName:object:executorPreference:options:file:line:transform:using:)`.
    ///
    ///     let token = center.addObserver(of: document, for: Saved.self) { message in await index.update(message) }
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type,
        executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken {
        add(of: subject, options, SourceLocation(file, line), .awaiting(on: executor, handler))
    }

    /// Adds an observer of the messages with an identifier, with an async handler.
    ///
    ///     let token = center.addObserver(of: document, for: .saved) { message in await index.update(message) }
    @_disfavoredOverload
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for identifier: Identifier,
        executorPreference executor: (any TaskExecutor)? = nil,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        add(of: subject, options, SourceLocation(file, line), .awaiting(on: executor, handler))
    }

    // MARK: -

    func add<Message>(
        of subject: Any?, _ options: ObserverOptions, _ location: SourceLocation, _ handler: ValueHandler<Message>
    ) -> ObserverToken {
        let name = MessageName.of(Message.self)
        return add(name.name, subject, options, location, .message(name, handler))
    }
}
