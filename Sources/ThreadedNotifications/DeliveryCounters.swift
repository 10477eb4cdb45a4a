/// How many notifications or blocks had each outcome (guarantee 14).
///
/// - `post` returns the counters of one notification: one for each observer that matches, unless the
///   observer's transform returned nil.
/// - `ObserverToken.counters` are those of one observer, since it was added.
/// - `PostingQueue.counters` are those of one queue.
public struct DeliveryCounters: Sendable, Hashable {
    /// The handler was called, or the enqueued notification was posted.
    public var delivered: Int
    /// It waits, or is being enqueued.
    public var waiting: Int
    /// A similar one replaced it.
    public var coalesced: Int
    /// The overflow policy dropped it.
    public var dropped: Int
    /// The overflow policy `refuse` dropped it.
    public var refused: Int
    /// The observer was removed, or the notification was dequeued.
    public var cancelled: Int
    /// The target thread ended, or was told to stop, before.
    public var targetGone: Int

    public init(
        delivered: Int = 0, waiting: Int = 0, coalesced: Int = 0, dropped: Int = 0, refused: Int = 0,
        cancelled: Int = 0, targetGone: Int = 0
    ) {
        self.delivered = delivered
        self.waiting = waiting
        self.coalesced = coalesced
        self.dropped = dropped
        self.refused = refused
        self.cancelled = cancelled
        self.targetGone = targetGone
    }

    static let none = DeliveryCounters()

    /// The sum of all outcomes: how many were posted for the observer, or enqueued.
    public var total: Int { delivered + waiting + coalesced + dropped + refused + cancelled + targetGone }

    /// The counter of one outcome.
    public subscript(outcome: DeliveryOutcome) -> Int {
        get { self[keyPath: Self.counter(of: outcome)] }
        set { self[keyPath: Self.counter(of: outcome)] = newValue }
    }

    private static func counter(of outcome: DeliveryOutcome) -> WritableKeyPath<DeliveryCounters, Int> {
        switch outcome {
        case .delivered: \.delivered
        case .waiting: \.waiting
        case .coalesced: \.coalesced
        case .dropped: \.dropped
        case .refused: \.refused
        case .cancelled: \.cancelled
        case .targetGone: \.targetGone
        }
    }

    /// Moves notifications that waited when `post` returned to their outcomes.
    mutating func resolveWaiting(_ outcomes: DeliveryCounters) {
        delivered += outcomes.delivered
        coalesced += outcomes.coalesced
        waiting -= outcomes.delivered + outcomes.coalesced
        // Some of the removed observers were removed before the notification was enqueued for them.
        let wereWaiting = min(outcomes.cancelled, waiting)
        cancelled += wereWaiting
        waiting -= wereWaiting
    }

    /// - Parameter outcome: nil if the observer's transform returned nil, which is not counted.
    @inline(__always)
    mutating func count(_ outcome: DeliveryOutcome?) {
        switch outcome {
        case nil: break
        case .delivered: delivered += 1
        case .waiting: waiting += 1
        case .coalesced: coalesced += 1
        case .dropped: dropped += 1
        case .refused: refused += 1
        case .cancelled: cancelled += 1
        case .targetGone: targetGone += 1
        }
    }
}

extension DeliveryCounters: CustomStringConvertible {
    /// `3: delivered 2, waiting 1`; `none` for a post without observers, or an observer without notifications.
    public var description: String {
        let parts = DeliveryOutcome.allCases.filter { self[$0] != 0 }.map { "\($0.words) \(self[$0])" }
        return parts.isEmpty ? "none" : "\(total): " + parts.joined(separator: ", ")
    }
}
