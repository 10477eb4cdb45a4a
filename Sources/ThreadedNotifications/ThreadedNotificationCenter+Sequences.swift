public import Foundation

extension ThreadedNotificationCenter {
    /// The notifications as an `AsyncSequence` of the values that a transform makes of them on the posting thread.
    ///
    /// - Parameters:
    ///   - name: the name of the notifications; nil: any.
    ///   - object: the object of the notifications; nil: any.
    ///   - buffer: how many values are kept for a slow iterator, and which values are dropped. They are counted in
    ///     `NotificationSequence.dropped`.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - transform: called on the posting thread; nil: the sequence does not get this notification.
    /// - Returns: a sequence that observes from now on.
    public func notifications<Value: Sendable>(
        named name: Notification.Name?, object: Any? = nil,
        buffer: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1000), file: String = #fileID,
        line: Int = #line,
        transform: @escaping @Sendable (Notification) -> Value?
    ) -> NotificationSequence<Value> {
        NotificationSequence(buffer: buffer) { sink in
            addObserver(
                forName: name, object: object, on: .postingThread, file: file, line: line, transform: transform,
                using: sink
            )
        }
    }

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
