internal import Synchronization

/// Notifications as an `AsyncSequence`.
///
///     let titles = center.notifications(
///         named: name, bufferSize: 100, transform: { $0.object as? String })
///     for await title in titles {
///
/// The sequence observes from its creation on. Values are put into its buffer on the posting thread; values that do not
/// fit are dropped and counted. It ends when the iterating task is cancelled, and at `cancel()`.
/// Order: the notifications of one posting thread come in the order posted.
/// Removal: releasing the sequence and its iterators removes the observer.
public struct NotificationSequence<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = Never

    // Released before the stream, whose end would remove the observer as `cancel()` does.
    private let source: Source
    private let stream: AsyncStream<Value>

    /// - Parameters:
    ///   - limit: the number of values that are kept for a slow iterator, the newest.
    ///   - observe: adds an observer that calls the closure with each value.
    package init<Problem>(
        bufferSize limit: Int,
        observe: (@escaping @Sendable (Value) -> Void) throws(Problem) -> ObserverToken
    ) throws(Problem) {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(limit))
        let counter = Counter()
        let token = try observe { value in
            if case .dropped = continuation.yield(value) { counter.dropped.add(1, ordering: .relaxed) }
        }
        self.stream = stream
        source = Source(token: token, counter: counter, continuation: continuation)
        continuation.onTermination = { [weak source] _ in source?.token.cancel() }
    }

    /// The number of values that were dropped because the buffer was full.
    public var dropped: Int { source.counter.dropped.load(ordering: .relaxed) }

    /// The observer's counters. `delivered` counts the values that were put into the buffer, also those that were
    /// dropped from it later.
    public var counters: DeliveryCounters { source.token.counters }

    /// Ends the sequence after the values that are in the buffer.
    public func cancel() {
        source.token.cancel()
        source.continuation.finish()
    }

    package var tokenID: UInt64 { source.token.id }

    /// Ends the sequence, if it still exists.
    package var ending: @Sendable () -> Void {
        { [weak source] in
            source?.token.cancel()
            source?.continuation.finish()
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(stream: stream.makeAsyncIterator(), source: source)
    }

    public struct Iterator: AsyncIteratorProtocol {
        private let source: Source
        private var stream: AsyncStream<Value>.Iterator

        fileprivate init(stream: AsyncStream<Value>.Iterator, source: Source) {
            self.stream = stream
            self.source = source
        }

        /// The next value; nil at the end, and after the task was cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            guard !Task.isCancelled else {
                // Another iterator must not wait for a value that will not come.
                source.token.cancel()
                source.continuation.finish()
                return nil
            }
            return await stream.next(isolation: actor)
        }

        public mutating func next() async -> Value? {
            await next(isolation: #isolation)
        }
    }

    fileprivate final class Counter: Sendable {
        let dropped = Atomic<Int>(0)
    }

    /// The state that the sequence and its iterators share. Releasing the last of them removes the observer.
    fileprivate final class Source: Sendable {
        let token: ObserverToken
        let counter: Counter
        let continuation: AsyncStream<Value>.Continuation

        init(token: ObserverToken, counter: Counter, continuation: AsyncStream<Value>.Continuation) {
            self.token = token
            self.counter = counter
            self.continuation = continuation
        }
    }
}
