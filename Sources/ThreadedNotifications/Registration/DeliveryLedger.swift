internal import Synchronization

/// Counts what became of what was posted for one observer (guarantee 14).
struct DeliveryLedger: ~Copyable {
    private let posted = Atomic<Int>(0)
    private let delivered = Atomic<Int>(0)
    private let coalesced = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let cancelled = Atomic<Int>(0)
    private let targetGone = Atomic<Int>(0)

    enum Fate {
        case delivered
        case coalesced
        case dropped
        case cancelled
        case targetGone
    }

    func countPosted() {
        posted.add(1, ordering: .relaxed)
    }

    func count(_ fate: Fate) {
        switch fate {
        case .delivered: delivered.add(1, ordering: .releasing)
        case .coalesced: coalesced.add(1, ordering: .releasing)
        case .dropped: dropped.add(1, ordering: .releasing)
        case .cancelled: cancelled.add(1, ordering: .releasing)
        case .targetGone: targetGone.add(1, ordering: .releasing)
        }
    }

    /// Fates are read first, so that what happens meanwhile counts as pending and never as less than nothing.
    var counts: DeliveryCounts {
        var counts = DeliveryCounts()
        counts.delivered = delivered.load(ordering: .acquiring)
        counts.coalesced = coalesced.load(ordering: .acquiring)
        counts.dropped = dropped.load(ordering: .acquiring)
        counts.cancelled = cancelled.load(ordering: .acquiring)
        counts.targetGone = targetGone.load(ordering: .acquiring)
        counts.posted = posted.load(ordering: .acquiring)
        counts.pending =
            counts.posted - counts.delivered - counts.coalesced - counts.dropped - counts.cancelled
            - counts.targetGone
        return counts
    }
}
