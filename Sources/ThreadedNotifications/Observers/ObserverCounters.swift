internal import Synchronization

/// Counts the outcomes of the notifications posted for one observer (guarantee 14), except those handled before `post`
/// returned: `ObserverState` counts them.
struct ObserverCounters: ~Copyable {
    /// Written with the mailbox's lock held.
    private let enqueued = Atomic<Int>(0)
    private let posted = Atomic<Int>(0)
    private let atOnce = Atomic<Int>(0)
    private let coalesced = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let cancelled = Atomic<Int>(0)
    private let targetGone = Atomic<Int>(0)
    // The posting thread and the target thread count at the same time.
    private let padding = CachePadding()
    /// Written by the target thread.
    private let delivered = Atomic<Int>(0)

    /// Counts a notification. Its outcome is counted later.
    func countPosted() {
        posted.add(1, ordering: .relaxed)
    }

    /// As `countPosted`, with the mailbox's lock held, so that an addition need not be atomic.
    @inline(__always)
    func countEnqueued() {
        enqueued.store(enqueued.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Counts a call of the handler on the target thread, which is the only thread that counts it.
    @inline(__always)
    func countDelivered() {
        delivered.store(delivered.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }

    /// As `countDelivered`, on any thread.
    func countDeliveredOnAnyThread() {
        delivered.add(1, ordering: .releasing)
    }

    /// Counts notifications that were posted, and handled before `post` returned.
    func countAtOnce(_ number: Int) {
        atOnce.add(number, ordering: .relaxed)
    }

    /// Counts an outcome. `delivered` is counted on the target thread.
    func count(_ outcome: DeliveryOutcome) {
        switch outcome {
        case .delivered: countDelivered()
        case .waiting: break
        case .coalesced: coalesced.add(1, ordering: .releasing)
        case .dropped: dropped.add(1, ordering: .releasing)
        case .refused: refused.add(1, ordering: .releasing)
        case .cancelled: cancelled.add(1, ordering: .releasing)
        case .targetGone: targetGone.add(1, ordering: .releasing)
        }
    }

    /// The counters now. Outcomes are read before the number posted, so that `waiting` is never negative.
    func read(_ state: ObserverState) -> DeliveryCounters {
        var counters = DeliveryCounters()
        let handledAtOnce = state.atOnce + atOnce.load(ordering: .relaxed)
        counters.delivered = handledAtOnce + delivered.load(ordering: .acquiring)
        counters.coalesced = coalesced.load(ordering: .acquiring)
        counters.dropped = dropped.load(ordering: .acquiring)
        counters.refused = refused.load(ordering: .acquiring)
        counters.cancelled = cancelled.load(ordering: .acquiring)
        counters.targetGone = targetGone.load(ordering: .acquiring)
        let total = handledAtOnce + posted.load(ordering: .acquiring) + enqueued.load(ordering: .acquiring)
        counters.waiting = total - counters.total
        return counters
    }
}
