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
    package var words: String {
        switch self {
        case .delivered: "delivered"
        case .waiting: "waiting"
        case .coalesced: "coalesced"
        case .dropped: "dropped"
        case .refused: "refused"
        case .cancelled: "cancelled"
        case .targetGone: "target gone"
        }
    }
}
