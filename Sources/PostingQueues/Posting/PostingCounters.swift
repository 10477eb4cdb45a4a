internal import Synchronization
internal import ThreadedNotifications

/// Counts the outcomes of the notifications of one posting queue, and identifies the queue.
final class PostingCounters: Sendable {
    /// Never used again.
    let queue = lastQueue.add(1, ordering: .relaxed).newValue
    private let state = Locked(DeliveryCounters())

    var counters: DeliveryCounters { state.withLock { $0 } }

    func count<Result: Sendable>(_ body: (inout DeliveryCounters) -> Result) -> Result {
        state.withLock { body(&$0) }
    }
}

private let lastQueue = Atomic<UInt64>(0)
