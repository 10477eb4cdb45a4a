public import Foundation

// The latest message of a type, for observers that are added later.

extension ThreadedNotificationCenter {
    // MARK: Messages

    /// Retains the latest message of a type from now on, for observers that are added later, as `retainLatest(of:)`
    /// does with notifications.
    ///
    ///     center.retainLatest(for: ConnectionChanged.self)
    ///
    /// It also retains notifications with the name of a `NotificationConvertible` message.
    ///
    /// Threads, order, removal and cost are those of `retainLatest(of:)`. The notification of a message is made for
    /// each post. Messages that are posted to a Foundation center are not captured.
    public func retainLatest<Message: NotificationCenter.AsyncMessage>(for messageType: Message.Type) {
        retainLatest(of: MessageName.of(messageType))
    }

    /// Stops retaining the latest message of a type, and releases it: see `stopRetainingLatest(of:)`.
    public func stopRetainingLatest<Message: NotificationCenter.AsyncMessage>(for messageType: Message.Type) {
        stopRetainingLatest(of: MessageName.of(messageType).name)
    }

    /// The latest message of a type that was posted since `retainLatest(for:)`; nil if there is none, or if it cannot
    /// be made of a notification that was posted since.
    public func latest<Message: NotificationCenter.AsyncMessage>(for messageType: Message.Type) -> Message? {
        latestMessage(messageType)
    }

    /// Releases the latest message of a type. The next one that is posted is retained again.
    public func removeLatest<Message: NotificationCenter.AsyncMessage>(for messageType: Message.Type) {
        removeLatest(of: MessageName.of(messageType).name)
    }

    // MARK: Messages of the main actor

    /// Retains the latest main actor message of a type. It may be released on any thread that replaces or removes it.
    public func retainLatest<Message: NotificationCenter.MainActorMessage>(for messageType: Message.Type) {
        retainLatest(of: MessageName.of(messageType))
    }

    /// Stops retaining the latest main actor message of a type, and releases it.
    public func stopRetainingLatest<Message: NotificationCenter.MainActorMessage>(for messageType: Message.Type) {
        stopRetainingLatest(of: MessageName.of(messageType).name)
    }

    /// The latest main actor message of a type.
    @MainActor
    public func latest<Message: NotificationCenter.MainActorMessage>(for messageType: Message.Type) -> Message? {
        latestMessage(messageType)
    }

    /// Releases the latest main actor message of a type. The next one that is posted is retained again.
    public func removeLatest<Message: NotificationCenter.MainActorMessage>(for messageType: Message.Type) {
        removeLatest(of: MessageName.of(messageType).name)
    }

    // MARK: -

    private func retainLatest(of message: MessageName) {
        retainLatest(of: message.name, isCaptured: message.isCaptured)
    }

    private func latestMessage<Message>(_ type: Message.Type) -> Message? {
        let name = MessageName.of(type)
        guard let latest = state.withLock({ $0.latest.latest(of: name.name.rawValue) }) else { return nil }
        if let message = latest.message as? Message { return message }
        // Calls foreign code, so it is done without the lock.
        return name.convertible?.makeMessage(latest.notification) as? Message
    }
}
