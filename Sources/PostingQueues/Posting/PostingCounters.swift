internal import Synchronization
internal import ThreadedNotifications

/// Counts the outcomes of the notifications of one posting queue, and identifies the queue.
final class PostingCounters: Sendable {
    /// Identifies the queue. Never used again.
    let queue = lastQueue.add(1, ordering: .relaxed).newValue

    private let enqueued = Atomic<Int>(0)
    private let posted = Atomic<Int>(0)
    private let coalesced = Atomic<Int>(0)
    private let dequeued = Atomic<Int>(0)
    private let targetGone = Atomic<Int>(0)

    func countEnqueued() {
        enqueued.add(1, ordering: .relaxed)
    }

    func count(_ outcome: EnqueuedNotification.Outcome) {
        switch outcome {
        case .posted: posted.add(1, ordering: .releasing)
        case .coalesced: coalesced.add(1, ordering: .releasing)
        case .dequeued: dequeued.add(1, ordering: .releasing)
        case .targetGone: targetGone.add(1, ordering: .releasing)
        }
    }

    /// The counters now. `enqueued` is read after the outcomes, so that `waiting` is never negative.
    var counters: DeliveryCounters {
        var counters = DeliveryCounters()
        counters.delivered = posted.load(ordering: .acquiring)
        counters.coalesced = coalesced.load(ordering: .acquiring)
        counters.cancelled = dequeued.load(ordering: .acquiring)
        counters.targetGone = targetGone.load(ordering: .acquiring)
        counters.waiting = enqueued.load(ordering: .acquiring) - counters.total
        return counters
    }
}

private let lastQueue = Atomic<UInt64>(0)
