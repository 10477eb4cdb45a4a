/// How many notifications or blocks had each `DeliveryOutcome` (guarantee 14).
///
/// - `post` returns the counters of one notification: one for each observer that matches, unless the
///   observer's transform returned nil.
/// - `ObserverToken.counters` are those of one observer, since it was added.
/// - `PostingQueue.counters` are those of one queue.
public struct DeliveryCounters: Sendable, Hashable, CustomStringConvertible {
    public var delivered: Int
    /// Those that are being enqueued count too.
    public var waiting: Int
    public var coalesced: Int
    public var dropped: Int
    public var refused: Int
    public var cancelled: Int
    public var targetGone: Int

    public init(
        delivered: Int = 0, waiting: Int = 0, coalesced: Int = 0, dropped: Int = 0, refused: Int = 0,
        cancelled: Int = 0, targetGone: Int = 0
    ) {
        (self.delivered, self.waiting, self.coalesced, self.dropped) = (delivered, waiting, coalesced, dropped)
        (self.refused, self.cancelled, self.targetGone) = (refused, cancelled, targetGone)
    }

    static let none = DeliveryCounters()

    /// The sum of all outcomes: how many were posted for the observer, or enqueued.
    public var total: Int { delivered + waiting + coalesced + dropped + refused + cancelled + targetGone }

    /// The counter of one outcome.
    public subscript(outcome: DeliveryOutcome) -> Int {
        get {
            switch outcome {
            case .delivered: delivered
            case .waiting: waiting
            case .coalesced: coalesced
            case .dropped: dropped
            case .refused: refused
            case .cancelled: cancelled
            case .targetGone: targetGone
            }
        }
        set {
            switch outcome {
            case .delivered: delivered = newValue
            case .waiting: waiting = newValue
            case .coalesced: coalesced = newValue
            case .dropped: dropped = newValue
            case .refused: refused = newValue
            case .cancelled: cancelled = newValue
            case .targetGone: targetGone = newValue
            }
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
    mutating func count(_ outcome: DeliveryOutcome?) {
        if let outcome { self[outcome] += 1 }
    }

    /// `3: delivered 2, waiting 1`; `none` for a post without observers, or an observer without notifications.
    public var description: String {
        let parts = DeliveryOutcome.allCases.filter { self[$0] != 0 }.map { "\($0.words) \(self[$0])" }
        return parts.isEmpty ? "none" : "\(total): " + parts.joined(separator: ", ")
    }
}

/// The outcome of a notification for one observer, of an enqueued notification, or of a block (guarantee 14).
///
/// `waiting` may change to one of the others, once; the others are final.
public enum DeliveryOutcome: String, Sendable, Hashable, CaseIterable {
    /// The handler was called, the block was performed, or the enqueued notification was posted.
    case delivered
    /// It waits for its thread, its delay or its posting style.
    case waiting
    /// A later or an earlier one that is similar replaced it: `OverflowPolicy.keepLatest`, a coalescing queue, or
    /// `ObserverOptions.receivesLatest`.
    case coalesced
    /// The overflow policy dropped it.
    case dropped
    /// The overflow policy `refuse` dropped it.
    case refused
    /// The observer was removed, the notification was dequeued, or the block was cancelled.
    case cancelled
    /// The target thread ended, was told to stop, or was never started (guarantee 10).
    case targetGone

    /// The outcome in words: `target gone`.
    package var words: String { self == .targetGone ? "target gone" : rawValue }
}
