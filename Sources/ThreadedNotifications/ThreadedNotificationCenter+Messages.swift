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
    @discardableResult
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters where Message.Subject: AnyObject {
        post(PostedMessage(message), about: subject, at: SourceLocation(file, line))
    }

    /// Posts a message that is about no particular object.
    @discardableResult
    public func post<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters {
        post(PostedMessage(message), about: nil, at: SourceLocation(file, line))
    }

    /// Posts a message and waits, as `postAndWait(_:timeout:file:line:)` does with a notification.
    @available(*, noasync, message: "it blocks the thread; post without waiting")
    @discardableResult
    public func postAndWait<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, subject: Message.Subject, timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters where Message.Subject: AnyObject {
        try postAndWait(PostedMessage(message), about: subject, timeout: timeout, at: SourceLocation(file, line))
    }

    /// Posts a message that is about no particular object, and waits.
    @available(*, noasync, message: "it blocks the thread; post without waiting")
    @discardableResult
    public func postAndWait<Message: NotificationCenter.AsyncMessage>(
        _ message: Message, timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) -> DeliveryCounters {
        try postAndWait(PostedMessage(message), about: nil, timeout: timeout, at: SourceLocation(file, line))
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
        post(PostedMessage(message), about: subject, at: SourceLocation(file, line))
    }

    /// Posts a main actor message that is about no particular object.
    @MainActor
    @discardableResult
    public func post<Message: NotificationCenter.MainActorMessage>(
        _ message: Message, file: String = #fileID, line: Int = #line
    ) -> DeliveryCounters {
        post(PostedMessage(message), about: nil, at: SourceLocation(file, line))
    }

    // MARK: -

    private func post(
        _ message: PostedMessage, about subject: AnyObject?, at location: SourceLocation
    ) -> DeliveryCounters {
        let post = Post(file: location.file, line: location.line, message: message)
        let (notification, observers) = notification(of: message, about: subject)
        return deliver(notification, post, to: observers)
    }

    private func postAndWait(
        _ message: PostedMessage, about subject: AnyObject?, timeout: Duration, at location: SourceLocation
    ) throws(DeliveryError) -> DeliveryCounters {
        try postAndWait(notification(of: message, about: subject).0, message, timeout: timeout, at: location)
    }

    /// The notification of a message. It is made of the message only if it is retained, or if an observer gets it.
    /// - Returns: if not, also the observers, which all get the message itself.
    private func notification(of message: PostedMessage, about subject: AnyObject?) -> (Notification, [Observer]?) {
        let bare = Notification(name: message.name.name, object: subject)
        guard message.name.convertible != nil else { return (bare, nil) }
        let isRetained = state.withLock { $0.latest.retains(bare.name.rawValue) }
        let observers = observers(matching: bare, of: nil)
        if isRetained || observers.contains(where: { $0.messageType != message.type }) {
            return (message.notification(about: subject), nil)
        }
        return (bare, observers)
    }
}

/// A message that is posted.
final class PostedMessage: Sendable {
    let payload: Payload
    let type: ObjectIdentifier
    let name: MessageName
    private let makeNotification: @Sendable () -> Notification?

    init<Message>(_ message: Message) {
        name = MessageName.of(Message.self)
        type = ObjectIdentifier(Message.self)
        let payload = PayloadValue(message, named: name.name)
        self.payload = payload
        makeNotification = { (payload.value as? any NotificationConvertible)?.madeNotification }
    }

    /// The notification for observers that do not get the message. Calls foreign code.
    func notification(about subject: AnyObject?) -> Notification {
        Notification(name: name.name, object: subject, userInfo: makeNotification()?.userInfo)
    }
}

extension NotificationConvertible {
    fileprivate var madeNotification: Notification { Self.makeNotification(self) }
}
