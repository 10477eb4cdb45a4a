public import Foundation

extension ThreadedNotificationCenter {
    /// The messages about an object as an `AsyncSequence`.
    ///
    ///     for await message in center.messages(of: document, for: .saved) {
    ///
    /// The sequence observes from now on. It gets what an observer of the message gets.
    /// - Parameters:
    ///   - subject: the object, compared by identity and not retained.
    ///   - identifier: the identifier of the message.
    ///   - buffer: how many messages are kept for a slow iterator, and which are dropped.
    ///     `NotificationSequence.dropped` counts them.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    public func messages<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject, for identifier: Identifier,
        buffer: AsyncStream<Message>.Continuation.BufferingPolicy = .bufferingNewest(1000), file: String = #fileID,
        line: Int = #line
    ) -> NotificationSequence<Message> where Identifier.MessageType == Message, Message.Subject: AnyObject {
        messages(of: subject, buffer, SourceLocation(file, line))
    }

    /// The messages about any object of a type as an `AsyncSequence`.
    public func messages<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject.Type, for identifier: Identifier,
        buffer: AsyncStream<Message>.Continuation.BufferingPolicy = .bufferingNewest(1000), file: String = #fileID,
        line: Int = #line
    ) -> NotificationSequence<Message> where Identifier.MessageType == Message {
        messages(of: nil, buffer, SourceLocation(file, line))
    }

    /// The messages of a type about an object as an `AsyncSequence`; nil: about any object, or none.
    public func messages<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject?, for messageType: Message.Type,
        buffer: AsyncStream<Message>.Continuation.BufferingPolicy = .bufferingNewest(1000), file: String = #fileID,
        line: Int = #line
    ) -> NotificationSequence<Message> where Message.Subject: AnyObject {
        messages(of: subject, buffer, SourceLocation(file, line))
    }

    /// The messages of a type as an `AsyncSequence`.
    public func messages<Message: NotificationCenter.AsyncMessage>(
        for messageType: Message.Type,
        buffer: AsyncStream<Message>.Continuation.BufferingPolicy = .bufferingNewest(1000), file: String = #fileID,
        line: Int = #line
    ) -> NotificationSequence<Message> {
        messages(of: nil, buffer, SourceLocation(file, line))
    }

    private func messages<Message: NotificationCenter.AsyncMessage>(
        of subject: AnyObject?, _ buffer: AsyncStream<Message>.Continuation.BufferingPolicy, _ location: SourceLocation
    ) -> NotificationSequence<Message> {
        NotificationSequence(buffer: buffer) { sink in
            addMessageObserver(of: subject, .on(.postingThread, sink), ObserverOptions(), location)
        }
    }
}
