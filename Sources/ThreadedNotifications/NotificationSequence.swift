public import Foundation

/// Notifications as an `AsyncSequence`.
///
///     let titles = center.notifications(named: name, transform: { $0.object as? String })
///     for await title in titles {
///
/// The sequence observes from its creation on. Values are put into its buffer on the posting thread; values that do not
/// fit are dropped and counted. It ends when the iterating task is cancelled, and when its observer is removed, as
/// `cancel()` does. Order: the notifications of one posting thread come in the order posted.
/// Removal: releasing the sequence and its iterators removes the observer.
public struct NotificationSequence<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = Never

    // Released before the stream: its end would remove the observer as `cancel()` does.
    private let source: Source
    private let stream: AsyncStream<Value>

    /// - Parameter observe: adds an observer that calls the closure with each value.
    package init<Problem>(
        bufferSize limit: Int, observe: (@escaping @Sendable (Value) -> Void) throws(Problem) -> ObserverToken
    ) throws(Problem) {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(limit))
        let dropped = Locked(0)
        let end = StreamEnd(continuation)
        let token = try observe { value in
            if case .dropped = end.continuation.yield(value) { dropped.withLock { $0 += 1 } }
        }
        self.stream = stream
        source = Source(token: token, dropped: dropped)
        continuation.onTermination = { [weak source] _ in source?.token.cancel() }
    }

    /// The number of values that were dropped because the buffer was full.
    public var dropped: Int { source.dropped.withLock { $0 } }

    /// The observer's counters. `delivered` counts the values that were put into the buffer, also those that were
    /// dropped from it later.
    public var counters: DeliveryCounters { source.token.counters }

    /// Ends the sequence after the values that are in the buffer.
    public func cancel() { source.token.cancel() }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source, stream: stream.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source
        fileprivate var stream: AsyncStream<Value>.Iterator

        /// The next value; nil at the end, and after the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            if !Task.isCancelled { return await stream.next(isolation: actor) }
            // Another iterator must not wait for a value that will not come.
            source.token.cancel()
            return nil
        }

        public mutating func next() async -> Value? { await next(isolation: #isolation) }
    }

    /// The state that the sequence and its iterators share. Releasing the last of them removes the observer.
    fileprivate final class Source: Sendable {
        let token: ObserverToken
        let dropped: Locked<Int>

        init(token: ObserverToken, dropped: Locked<Int>) { (self.token, self.dropped) = (token, dropped) }
    }

    /// Ends the stream when the observer is removed, because its handler is released then.
    private final class StreamEnd: Sendable {
        let continuation: AsyncStream<Value>.Continuation

        init(_ continuation: AsyncStream<Value>.Continuation) { self.continuation = continuation }

        deinit { continuation.finish() }
    }
}

extension ThreadedNotificationCenter {
    /// The notifications as an `AsyncSequence` of the values that a transform makes of them on the posting thread.
    ///
    ///     for await title in center.notifications(named: name, transform: { $0.object as? String }) {
    /// - Parameters:
    ///   - limit: how many values are kept for a slow iterator: the newest 1000 by default.
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
    /// - Parameter limit: how many are kept for a slow iterator: the newest 1000 by default. Foundation keeps 10.
    public func messages<Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for messageType: Message.Type, bufferSize limit: Int = 1000,
        file: String = #fileID, line: Int = #line
    ) -> NotificationSequence<Message> {
        NotificationSequence(bufferSize: limit) { sink in
            addObserver(of: subject, for: messageType, on: .postingThread, file: file, line: line, using: sink)
        }
    }

    /// The messages with an identifier as an `AsyncSequence`.
    ///
    ///     for await message in center.messages(of: document, for: .saved) {
    public func messages<Identifier: NotificationCenter.MessageIdentifier, Message: NotificationCenter.AsyncMessage>(
        of subject: Message.Subject? = nil, for identifier: Identifier, bufferSize limit: Int = 1000,
        file: String = #fileID, line: Int = #line
    ) -> NotificationSequence<Message> where Identifier.MessageType == Message {
        messages(of: subject, for: Message.self, bufferSize: limit, file: file, line: line)
    }
}
