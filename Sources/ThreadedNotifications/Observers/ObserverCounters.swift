internal import Synchronization

/// Counts what became of what was posted for one observer (guarantee 14), but for what was handled before `post` returned:
/// that `ObserverLife` counts.
struct DeliveryLedger: ~Copyable {
    /// Added to by one thread at a time.
    private let appended = Atomic<Int>(0)
    private let posted = Atomic<Int>(0)
    private let coalesced = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let cancelled = Atomic<Int>(0)
    private let targetGone = Atomic<Int>(0)
    private let atOnce = Atomic<Int>(0)
    // So that a poster and the target thread, which count at the same time, do not wait for each other's memory.
    private let apart = Apart()
    private let delivered = Atomic<Int>(0)

    /// It was posted, and meets its fate later.
    func countPosted() {
        posted.add(1, ordering: .relaxed)
    }

    /// It was appended to the mailbox, whose lock the caller holds: so nobody else adds at the same time.
    @inline(__always)
    func countAppended() {
        appended.store(appended.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Its handler is called on the target thread, and only that thread counts this.
    @inline(__always)
    func countDelivered() {
        delivered.store(delivered.load(ordering: .relaxed) &+ 1, ordering: .releasing)
    }

    /// So many were posted, and handled before `post` returned, that `ObserverLife` does not count them any more.
    func countAtOnce(_ many: Int) {
        atOnce.add(many, ordering: .relaxed)
    }

    /// It met its fate, on the target thread if that is its handler.
    func count(_ outcome: DeliveryOutcome) {
        switch outcome {
        case .delivered: countDelivered()
        case .coalesced: coalesced.add(1, ordering: .releasing)
        case .dropped: dropped.add(1, ordering: .releasing)
        case .refused: refused.add(1, ordering: .releasing)
        case .waiting: break
        case .cancelled: cancelled.add(1, ordering: .releasing)
        case .targetGone: targetGone.add(1, ordering: .releasing)
        }
    }

    /// Fates are read first, so that what happens meanwhile counts as pending and never as less than nothing.
    /// - Parameter life: what counts the rest.
    func counters(_ life: ObserverLife) -> DeliveryCounters {
        var counters = DeliveryCounters()
        let handledAtOnce = life.atOnce + atOnce.load(ordering: .relaxed)
        counters.delivered = handledAtOnce + delivered.load(ordering: .acquiring)
        counters.coalesced = coalesced.load(ordering: .acquiring)
        counters.dropped = dropped.load(ordering: .acquiring)
        counters.refused = refused.load(ordering: .acquiring)
        counters.cancelled = cancelled.load(ordering: .acquiring)
        counters.targetGone = targetGone.load(ordering: .acquiring)
        let total = handledAtOnce + posted.load(ordering: .acquiring) + appended.load(ordering: .acquiring)
        counters.waiting = total - counters.total
        return counters
    }
}
