public import Foundation

extension ThreadedNotificationCenter {
    /// Posts a main actor message about an object: to the observers of the message, and as a notification to those of
    /// its name.
    ///
    /// It is delivered as an `AsyncMessage` is: see `post(_:subject:file:line:)`. Observers of the message are on the
    /// main thread. They are called before `post` returns, if nothing else waits there.
    ///
    /// Threads: the main actor.
    /// - Returns: the number of observers with each outcome.
    @MainActor
    @discardableResult
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, subject: Message.Subject, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters where Message.Subject: AnyObject {
        withUnsafePointer(to: message) { post(Message.self, at: $0, subject, file, line) }
    }

    /// Posts a main actor message that is about no particular object.
    @MainActor
    @discardableResult
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters {
        withUnsafePointer(to: message) { post(Message.self, at: $0, nil, file, line) }
    }

    /// Adds an observer of the main actor messages about an object. Its handler is called on the main thread, which
    /// delivers while it runs its run loop; see `.main`.
    ///
    ///     let token = center.addObserver(of: document, for: .saved) { message in … }
    ///
    /// The observer also gets notifications with the message's name, posted on any thread, if the message is
    /// `NotificationConvertible` and `makeMessage` makes it of them.
    ///
    /// Threads: any.
    /// Order, removal: those of every observer.
    /// - Parameters:
    ///   - subject: the object, compared by identity and not retained.
    ///   - identifier: the identifier of the message.
    ///   - options: the observer's options.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - handler: called on the main thread with the message.
    /// - Returns: a token. Keep it: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at
    ///   once.
    public func addObserver<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage
    >(
        of subject: Message.Subject, for identifier: Identifier, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message, Message.Subject: AnyObject {
        addMainActorObserver(of: subject, options, SourceLocation(file, line), handler)
    }

    /// Adds an observer of the main actor messages about any object of a type.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage
    >(
        of subject: Message.Subject.Type, for identifier: Identifier, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        addMainActorObserver(of: nil, options, SourceLocation(file, line), handler)
    }

    /// Adds an observer of the main actor messages of a type about an object; nil: about any object, or none.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject?, for messageType: Message.Type, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Message.Subject: AnyObject {
        addMainActorObserver(of: subject, options, SourceLocation(file, line), handler)
    }

    /// Adds an observer of the main actor messages of a type.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Message: NotificationCenter.MainActorMessage>(
        for messageType: Message.Type, options: ObserverOptions = ObserverOptions(), file: String = #fileID,
        line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken {
        addMainActorObserver(of: nil, options, SourceLocation(file, line), handler)
    }

    // Safety: a main actor message need not be Sendable. One that was posted as a message was posted on the main actor,
    // and is handled there. One that was made of a notification on another thread is handed over by the mailbox, as the
    // notification would be, and the thread that made it keeps no copy.
    private func addMainActorObserver<Message: NotificationCenter.MainActorMessage>(
        of subject: AnyObject?, _ options: ObserverOptions, _ location: SourceLocation,
        _ handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken {
        addMessageObserver(of: subject, .onMain(handler), options, location)
    }
}

// MARK: Async messages on the main thread

extension ThreadedNotificationCenter {
    /// Adds an observer on the main thread of the messages about an object. Its handler is isolated to the main actor.
    ///
    ///     let token = center.addObserver(of: document, for: .saved, on: .main) { message in … }
    ///
    /// Removal: the handler is released on the main thread.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier, on thread: MainThread,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message, Message.Subject: AnyObject {
        addMessageObserver(of: subject, .onMain(handler), options, SourceLocation(file, line))
    }

    /// Adds an observer on the main thread of the messages about any object of a type.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier, on thread: MainThread,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        addMessageObserver(of: nil, .onMain(handler), options, SourceLocation(file, line))
    }

    /// Adds an observer on the main thread of the messages of a type about an object; nil: about any object, or none.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject?, for messageType: Message.Type, on thread: MainThread,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Message.Subject: AnyObject {
        addMessageObserver(of: subject, .onMain(handler), options, SourceLocation(file, line))
    }

    /// Adds an observer on the main thread of the messages of a type.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        for messageType: Message.Type, on thread: MainThread, options: ObserverOptions = ObserverOptions(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken {
        addMessageObserver(of: nil, .onMain(handler), options, SourceLocation(file, line))
    }
}
