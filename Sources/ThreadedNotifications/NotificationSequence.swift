internal import Synchronization

/// Notifications as an `AsyncSequence`.
///
///     for await title in center.notifications(named: name, buffer: .bufferingNewest(100), transform: { $0.object as? String }) {
///
/// What happens: it observes from its creation on, puts values into its buffer on the posting thread, and `next()` takes them
/// out. It ends when the task that iterates is cancelled, also if it was before it began, and at `cancel()`.
/// Order: each posting thread's notifications come in the order posted.
/// Removal: dropping the sequence and its iterators removes the observer.
/// What does not fit into the buffer is dropped and counted.
public struct NotificationSequence<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = Never

    private let stream: AsyncStream<Value>
    private let source: Source

    /// - Parameter observe: registers an observer that hands values to what it is given.
    package init<Problem>(
        buffer: AsyncStream<Value>.Continuation.BufferingPolicy,
        observe: (@escaping @Sendable (Value) -> Void) throws(Problem) -> ObserverToken
    ) throws(Problem) {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: buffer)
        let counter = Counter()
        let token = try observe { value in
            if case .dropped = continuation.yield(value) { counter.dropped.add(1, ordering: .relaxed) }
        }
        self.stream = stream
        source = Source(token: token, counter: counter, continuation: continuation)
        continuation.onTermination = { [weak source] _ in source?.token.cancel() }
    }

    /// How many values were dropped because the buffer was full.
    public var dropped: Int { source.counter.dropped.load(ordering: .relaxed) }

    /// What became of what was posted: `delivered` is what was put into the buffer, also if `dropped` later.
    public var counters: DeliveryCounters { source.token.counters }

    /// Ends the sequence: what is in the buffer still comes, and then the end.
    public func cancel() {
        source.token.cancel()
        source.continuation.finish()
    }

    package var tokenID: UInt64 { source.token.id }

    /// Ends the sequence, if somebody has it still.
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
        private var stream: AsyncStream<Value>.Iterator
        private let source: Source

        fileprivate init(stream: AsyncStream<Value>.Iterator, source: Source) {
            self.stream = stream
            self.source = source
        }

        /// The next value; nil at the end, and once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            guard !Task.isCancelled else {
                // Another iterator must not await what will not come.
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

    /// What the sequence and its iterators share: when the last of them goes, its token does.
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
