/// What `post` did with a notification: for how many observers it did what. The sum is the number of observers that match.
public struct PostReport: Sendable, Hashable {
    /// Handled before `post` returned.
    public internal(set) var delivered = 0
    /// Was handed to its target thread; after a `post` that waited, it was handled there.
    public internal(set) var waiting = 0
    /// Dropped by the observer's overflow policy.
    public internal(set) var dropped = 0
    /// Dropped by the policy that refuses.
    public internal(set) var refused = 0
    /// The observer was removed while `post` ran.
    public internal(set) var cancelled = 0
    /// The target thread has ended, or was told to stop (guarantee 10).
    public internal(set) var targetGone = 0

    mutating func count(_ outcome: PostOutcome) {
        switch outcome {
        case .delivered: delivered += 1
        case .waiting: waiting += 1
        case .dropped: dropped += 1
        case .refused: refused += 1
        case .cancelled: cancelled += 1
        case .targetGone: targetGone += 1
        case .notForIt: break
        }
    }
}

/// What became of a notification for one observer, as far as `post` knows.
enum PostOutcome {
    case delivered
    case waiting
    case dropped
    case refused
    case cancelled
    case targetGone
    /// Its mapping made nothing of the notification.
    case notForIt
}
