internal import Synchronization

/// Counts the outcomes of the notifications posted for one observer (guarantee 14).
struct ObserverCounters: ~Copyable {
    /// All of them; those without an outcome wait.
    let posted = Atomic<Int>(0)
    private let coalesced = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)
    private let cancelled = Atomic<Int>(0)
    private let targetGone = Atomic<Int>(0)
    // Posting threads and the target thread count at the same time.
    private let padding = CachePadding()
    let delivered = Atomic<Int>(0)

    /// True if the handler was called.
    var wasCalled: Bool { delivered.load(ordering: .relaxed) > 0 }

    func count(_ outcome: DeliveryOutcome) {
        switch outcome {
        case .waiting: break
        case .delivered: delivered.add(1, ordering: .relaxed)
        case .coalesced: coalesced.add(1, ordering: .relaxed)
        case .dropped: dropped.add(1, ordering: .relaxed)
        case .refused: refused.add(1, ordering: .relaxed)
        case .cancelled: cancelled.add(1, ordering: .relaxed)
        case .targetGone: targetGone.add(1, ordering: .relaxed)
        }
    }

    /// The counters. Outcomes are read first, so that what is counted meanwhile counts as waiting.
    func read() -> DeliveryCounters {
        var counters = DeliveryCounters(
            delivered: delivered.load(ordering: .acquiring), coalesced: coalesced.load(ordering: .acquiring),
            dropped: dropped.load(ordering: .acquiring), refused: refused.load(ordering: .acquiring),
            cancelled: cancelled.load(ordering: .acquiring), targetGone: targetGone.load(ordering: .acquiring))
        counters.waiting = posted.load(ordering: .relaxed) - counters.total
        return counters
    }
}

/// The size of a cache line. Fields before it and after it are in different cache lines, so that two processors can
/// write them at the same time.
struct CachePadding {
    private let bytes: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
}
