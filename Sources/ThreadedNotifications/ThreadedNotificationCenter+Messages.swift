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

    // MARK: Posting main actor messages

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

    // MARK: -

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
