public import Foundation

extension ThreadedNotificationCenter {
    // MARK: Posting messages

    /// Posts a message about an object: to the observers of the message, and as a notification to those of its name.
    ///
    ///     center.post(Saved(title: "Untitled"), subject: document)
    ///
    /// It is delivered as a notification is: see `post(_:file:line:)`. Observers of the message get the message itself.
    /// For other observers of its name a `NotificationConvertible` message is converted once, before anything is
    /// delivered; a message that does not conform has the name of its type, and no userInfo.
    ///
    /// Threads: any.
    /// Cost: that of posting a notification. A message for another thread is copied.
    /// - Returns: the number of observers with each outcome.
    @inlinable
    @discardableResult
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters where Message.Subject: AnyObject {
        withUnsafePointer(to: message) { post(Message.self, at: $0, subject, file, line) }
    }

    /// Posts a message that is about no particular object.
    @inlinable
    @discardableResult
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters {
        withUnsafePointer(to: message) { post(Message.self, at: $0, nil, file, line) }
    }

    /// Posts a message and waits, as `postAndWait(_:timeout:file:line:)` does with a notification.
    @available(*, noasync, message: "it blocks the thread; post without waiting")
    @discardableResult
    public func postAndWait<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject, timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters where Message.Subject: AnyObject {
        try postAndWait(message: message, subject, timeout: timeout, at: SourceLocation(file, line))
    }

    /// Posts a message that is about no particular object, and waits.
    @available(*, noasync, message: "it blocks the thread; post without waiting")
    @discardableResult
    public func postAndWait<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters {
        try postAndWait(message: message, nil, timeout: timeout, at: SourceLocation(file, line))
    }

    // MARK: Observing messages

    /// Adds an observer of the messages about an object.
    ///
    ///     let token = center.addObserver(of: document, for: .saved, on: worker) { message in … }
    ///
    /// The observer also gets notifications with the message's name, if the message is `NotificationConvertible` and
    /// `makeMessage` makes it of them. That is called on the posting thread; if it returns nil, the observer does not
    /// get the notification.
    ///
    /// Threads: any. The handler is called on `thread`.
    /// Order, removal: those of every observer.
    /// Capture: a center that captures a Foundation center captures notifications with the name of a
    /// `NotificationConvertible` message that is not the name of its type. Messages that are posted to the Foundation
    /// center are not captured.
    /// - Parameters:
    ///   - subject: the object, compared by identity and not retained.
    ///   - identifier: the identifier of the message.
    ///   - thread: the thread on which the handler is called.
    ///   - options: the observer's options.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - handler: called on `thread` with the message.
    /// - Returns: a token. Keep it: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at
    ///   once.
    @_disfavoredOverload
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message, Message.Subject: AnyObject {
        addMessageObserver(of: subject, .on(thread, handler), options, SourceLocation(file, line))
    }

    /// Adds an observer of the messages about any object of a type.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    @_disfavoredOverload
    public func addObserver<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObserverToken where Identifier.MessageType == Message {
        addMessageObserver(of: nil, .on(thread, handler), options, SourceLocation(file, line))
    }

    /// Adds an observer of the messages of a type about an object; nil: about any object, or none.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject?, for messageType: Message.Type, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObserverToken where Message.Subject: AnyObject {
        addMessageObserver(of: subject, .on(thread, handler), options, SourceLocation(file, line))
    }

    /// Adds an observer of the messages of a type.
    ///
    /// Keep the token: releasing it removes the observer, and `_ = center.addObserver(…)` removes it at once.
    @_disfavoredOverload
    public func addObserver<Message: NotificationCenter.AsyncMessage>(
        for messageType: Message.Type, on thread: some DeliveryTarget,
        options: ObserverOptions = ObserverOptions(), file: String = #fileID, line: Int = #line,
        using handler: @escaping @Sendable (Message) -> Void
    ) -> ObserverToken {
        addMessageObserver(of: nil, .on(thread, handler), options, SourceLocation(file, line))
    }

    // MARK: The one way of all messages

    func addMessageObserver<Message>(
        of subject: AnyObject?, _ handler: ValueHandler<Message>, _ options: ObserverOptions, _ location: SourceLocation
    ) -> ObserverToken {
        let name = MessageName.of(Message.self)
        return add(name.name, subject, handler.mailbox, options, location, handler.kind(name))
    }

    /// - Parameter address: the address of a message of that type, which is valid during the call.
    @usableFromInline
    func post(
        _ type: any Any.Type, at address: UnsafeRawPointer, _ subject: AnyObject?, _ file: String, _ line: Int
    ) -> DeliveryCounters {
        ThreadContext.withCurrent { context in
            withUnsafePointer(to: PostedMessage(of: type, at: address)) { message in
                deliver(message, subject: subject, at: SourceLocation(file, line), context)
            }
        }
    }

    private func postAndWait<Message>(
        message: Message, _ subject: AnyObject?, timeout: Duration, at location: SourceLocation
    ) throws(DeliveryError) -> DeliveryCounters {
        let notification = Notification(name: MessageName.of(Message.self).name, object: subject)
        return try withUnsafePointer(to: message) { address throws(DeliveryError) in
            try postAndWait(notification, PostedMessage(of: Message.self, at: address), timeout: timeout, at: location)
        }
    }
}
