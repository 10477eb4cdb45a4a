public import Foundation

// The observers that are asynchronous sequences. The newest values are kept for a slow iterator, 1000 unless the caller
// says otherwise; `NotificationSequence.dropped` counts the others. A sequence observes from its creation on.

extension ThreadedNotificationCenter {
    /// The notifications as an `AsyncSequence` of the values that a transform makes of them on the posting thread.
    ///
    ///     for await title in center.notifications(named: name, transform: { $0.object as? String }) {
    ///
    /// - Parameters:
    ///   - name: the name of the notifications; nil: any.
    ///   - object: the object of the notifications; nil: any.
    ///   - limit: how many values are kept for a slow iterator: the newest 1000 by default.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    ///   - transform: called on the posting thread; nil: the sequence does not get this notification.
    public func notifications<Value: Sendable>(
        named name: Notification.Name?, object: Any? = nil, bufferSize limit: Int = 1000, file: String = #fileID,
        line: Int = #line, transform: @escaping @Sendable (Notification) -> Value?
    ) -> NotificationSequence<Value> {
        NotificationSequence(bufferSize: limit) { sink in
            addObserver(
                forName: name, object: object, on: .postingThread, file: file, line: line, transform: transform,
                using: sink)
        }
    }

    /// The messages of a type as an `AsyncSequence`.
    ///
    ///     for await message in center.messages(of: document, for: Saved.self) {
    ///
    /// - Parameters:
    ///   - subject: the object of the messages, compared by identity and not retained; nil: any, or none.
    ///   - messageType: the type of the messages.
    ///   - limit: how many messages are kept for a slow iterator: the newest 1000 by default. Foundation keeps 10.
    ///   - file: the caller's file, for events and recordings.
    ///   - line: the caller's line, for events and recordings.
    public func messages<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, bufferSize limit: Int = 1000,
        file: String = #fileID, line: Int = #line
    ) -> NotificationSequence<Message> {
        NotificationSequence(bufferSize: limit) { sink in
            addObserver(of: subject, for: messageType, on: .postingThread, file: file, line: line, using: sink)
        }
    }

    /// The messages with an identifier as an `AsyncSequence`, with the same buffer.
    ///
    ///     for await message in center.messages(of: document, for: .saved) {
    public func messages<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for identifier: Identifier, bufferSize limit: Int = 1000,
        file: String = #fileID, line: Int = #line
    ) -> NotificationSequence<Message> where Identifier.MessageType == Message {
        messages(of: subject, for: Message.self, bufferSize: limit, file: file, line: line)
    }
}
