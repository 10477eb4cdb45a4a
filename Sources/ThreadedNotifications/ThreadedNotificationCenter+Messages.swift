public import Foundation

extension ThreadedNotificationCenter {
    // MARK: Posting

    /// Posts a message: to the observers of the message, and as a notification to those of its name.
    ///
    ///     center.post(Saved(title: "Untitled"), subject: document)
    ///
    /// It is delivered as a notification is: see `post(_:file:line:)`. Observers of the message get the message itself.
    /// For other observers of its name a `NotificationConvertible` message is converted once, before anything is
    /// delivered; a message that does not conform has the name of its type, and no userInfo.
    /// Cost: that of posting a notification. A message for another thread is copied.
    /// - Parameter subject: what it is about: the object of the notification; nil: nothing in particular.
    /// - Returns: the number of observers with each outcome.
    @discardableResult
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject?, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters { post(PostedMessage(message), about: subject, at: SourceLocation(file, line)) }

    /// Posts a message about nothing in particular.
    // Looking up the type of an absent subject would cost a fifth of a post.
    @discardableResult
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters { post(PostedMessage(message), about: nil, at: SourceLocation(file, line)) }

    /// Posts a main actor message. Observers of the message are on the main thread. They are called before `post`
    /// returns, if nothing else waits there.
    @MainActor @discardableResult
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, subject: Message.Subject? = nil, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters { post(PostedMessage(message), about: subject, at: SourceLocation(file, line)) }

    private func post(_ message: PostedMessage, about subject: Any?, at location: SourceLocation) -> DeliveryCounters {
        let post = Post(file: location.file, line: location.line, message: message)
        let (notification, observers) = notification(of: message, about: subject)
        return deliver(notification, post, to: observers)
    }

    /// Posts a message and waits, as `postAndWait(_:timeout:file:line:)` does with a notification.
    @available(*, noasync, message: "it blocks the thread; post without waiting") @discardableResult
    public func postAndWait<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject? = nil, timeout: Duration, file: String = #fileID,
        line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters {
        let message = PostedMessage(message)
        return try postAndWait(
            notification(of: message, about: subject).0, message, timeout: timeout, at: SourceLocation(file, line))
    }

    /// The notification of a message. It is made of the message only if it is retained, or if an observer gets it.
    /// - Returns: if not, also the observers, which all get the message itself.
    private func notification(of message: PostedMessage, about subject: Any?) -> (Notification, [Observer]?) {
        let bare = Notification(name: message.name.name, object: subject)
        guard message.name.convertible != nil else { return (bare, nil) }
        let isRetained = state.withLock { $0.latest.retains(bare.name.rawValue) }
        let observers = ThreadContext.withCurrent { self.observers(matching: bare, of: nil, $0) }
        if isRetained || observers.contains(where: { $0.messageType != message.type }) {
            return (message.notification(about: subject), nil)
        }
        return (bare, observers)
    }

    // MARK: Observing

    /// Adds an observer on the main thread of the messages of a type. Its handler is isolated to the main actor.
    ///
    ///     let token = center.addObserver(of: document, for: Saved.self, on: .main) { message in … }
    /// - Parameter subject: the object of the messages, compared by identity and not retained; nil: any, or none.
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, on thread: MainThread,
        options: ObserverOptions = .init(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken { add(of: subject, options, SourceLocation(file, line), .onMain(handler)) }

    /// Adds an observer on a thread of the messages of a type.
    ///
    ///     let token = center.addObserver(of: document, for: Saved.self, on: worker) { message in … }
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, on thread: some DeliveryTarget,
        options: ObserverOptions = .init(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObserverToken { add(of: subject, options, SourceLocation(file, line), .on(thread, handler)) }

    /// Adds an observer of the main actor messages of a type. Its handler is called on the main thread, which delivers
    /// while it runs its run loop; see `.main`.
    ///
    ///     let token = center.addObserver(of: window, for: Resized.self) { message in … }
    //
    // Safety: a main actor message need not be Sendable. One that was posted as a message was posted on the main actor,
    // and is handled there. One that was made of a notification on another thread is handed over by the mailbox, as the
    // notification would be, and the thread that made it keeps no copy.
    public func addObserver<Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, options: ObserverOptions = .init(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken { add(of: subject, options, SourceLocation(file, line), .onMain(handler)) }

    /// Adds an observer of the main actor messages with an identifier.
    ///
    ///     let token = center.addObserver(of: window, for: .resized) { message in … }
    public func addObserver<
        Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.MainActorMessage
    >(
        of subject: Message.Subject? = nil, for identifier: Identifier, options: ObserverOptions = .init(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @MainActor (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        add(of: subject, options, SourceLocation(file, line), .onMain(handler))
    }

    /// Adds an observer of the messages of a type, with an async handler, as for notifications.
    ///
    ///     let token = center.addObserver(of: document, for: Saved.self) { message in await index.update(message) }
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type,
        executorPreference executor: (any TaskExecutor)? = nil, options: ObserverOptions = .init(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken { add(of: subject, options, SourceLocation(file, line), .awaiting(on: executor, handler)) }

    /// Adds an observer of the messages with an identifier, with an async handler.
    ///
    ///     let token = center.addObserver(of: document, for: .saved) { message in await index.update(message) }
    @_disfavoredOverload
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for identifier: Identifier,
        executorPreference executor: (any TaskExecutor)? = nil, options: ObserverOptions = .init(),
        file: String = #fileID, line: Int = #line, using handler: @escaping @Sendable (Message) async -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        add(of: subject, options, SourceLocation(file, line), .awaiting(on: executor, handler))
    }

    private func add<Message>(
        of subject: Any?, _ options: ObserverOptions, _ location: SourceLocation, _ handler: ValueHandler<Message>
    ) -> ObserverToken {
        let name = MessageName.of(Message.self)
        return add(name.name, subject, options, location, .message(name, handler))
    }
}

/// A message that is posted.
struct PostedMessage {
    let payload: Payload
    let type: ObjectIdentifier
    let name: MessageName

    init<Message>(_ message: Message) {
        name = MessageName.of(Message.self)
        type = ObjectIdentifier(Message.self)
        payload = PayloadValue(message, named: name.name)
    }

    /// The notification for observers that do not get the message. Calls foreign code.
    func notification(about subject: Any?) -> Notification {
        Notification(name: name.name, object: subject, userInfo: payload.convertible?.madeNotification.userInfo)
    }
}

extension NotificationConvertible {
    fileprivate var madeNotification: Notification { Self.makeNotification(self) }
}
