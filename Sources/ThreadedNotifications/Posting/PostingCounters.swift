internal import Synchronization

/// Counts what became of what was enqueued to one queue, and tells queues apart.
final class PostingLedger: Sendable {
    /// Which queue; never used again.
    let queue = lastQueue.add(1, ordering: .relaxed).newValue

    private let enqueued = Atomic<Int>(0)
    private let posted = Atomic<Int>(0)
    private let coalesced = Atomic<Int>(0)
    private let dequeued = Atomic<Int>(0)
    private let targetGone = Atomic<Int>(0)

    func countEnqueued() {
        enqueued.add(1, ordering: .relaxed)
    }

    func count(_ fate: EnqueuedNotification.Fate) {
        switch fate {
        case .posted: posted.add(1, ordering: .releasing)
        case .coalesced: coalesced.add(1, ordering: .releasing)
        case .dequeued: dequeued.add(1, ordering: .releasing)
        case .targetGone: targetGone.add(1, ordering: .releasing)
        }
    }

    /// Fates are read first, so that what happens meanwhile counts as waiting and never as less than nothing.
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
