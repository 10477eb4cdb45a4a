public import Foundation

extension ThreadedNotificationCenter {
    /// True if a post with this name and object would match an observer of this center now. It saves making a
    /// payload without observers:
    ///
    ///     if center.hasObservers(of: .progress) { center.post(name: .progress, userInfo: makeReport()) }
    ///
    /// It is also true if an observer of the name receives the latest notification. Another thread may add an observer
    /// before the post, and a transform may still return nil. Observers that were added to the captured Foundation
    /// center do not count.
    ///
    /// Threads: any.
    /// Cost: that of finding the observers of a post: see `ThreadedNotificationCenter`.
    public func hasObservers(of name: Notification.Name, object: Any? = nil) -> Bool {
        state.withLock { $0.latest.retains(name.rawValue) }
            || !observers(matching: Notification(name: name, object: object), of: nil).isEmpty
    }

    /// True if a post of a message of this type, about an object, would match an observer of this center now: of the
    /// message, or of its name. See `hasObservers(of:object:)`.
    ///
    ///     if center.hasObservers(for: Progress.self) { center.post(Progress(makeReport())) }
    public func hasObservers<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type
    ) -> Bool {
        hasObservers(ofMessage: messageType, subject)
    }

    /// True if a post of a main actor message of this type, about an object, would match an observer of this center
    /// now.
    public func hasObservers<Message: NotificationCenter.MainActorMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type
    ) -> Bool {
        hasObservers(ofMessage: messageType, subject)
    }

    private func hasObservers(ofMessage type: any Any.Type, _ subject: Any?) -> Bool {
        hasObservers(of: MessageName.of(type).name, object: subject)
    }

    /// The observers of this center, in the order in which they were added, for debugging.
    ///
    ///     for observer in center.observers { print(observer) }
    ///
    /// Threads: any.
    /// Cost: all observers are sorted while the center is locked.
    public var observers: [ObserverDescription] {
        state.withLock { $0.registry.all }.filter { !$0.hasLostItsObject }.map(ObserverDescription.init)
    }
}
