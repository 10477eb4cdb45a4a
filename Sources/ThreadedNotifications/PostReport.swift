/// What `post` did with a notification: for how many observers it did what. The sum is the number of observers that match, but
/// for those whose mapping made nothing of it.
public struct PostReport: Sendable, Hashable {
    /// Handled before `post` returned.
    public internal(set) var delivered = 0
    /// Waits for its target thread; after a `post` that waited, a later one has taken its place.
    public internal(set) var waiting = 0
    /// Dropped by the observer's overflow policy.
    public internal(set) var dropped = 0
    /// Dropped by the policy that refuses.
    public internal(set) var refused = 0
    /// The observer was removed while `post` ran.
    public internal(set) var cancelled = 0
    /// The target thread has ended, or was told to stop (guarantee 10).
    public internal(set) var targetGone = 0

    /// What was waiting was waited for.
    mutating func countMeanwhile(delivered: Int, cancelled: Int) {
        self.delivered += delivered
        waiting -= delivered
        // Of those that were removed, some had been before they were handed anything.
        let wereWaiting = min(cancelled, waiting)
        self.cancelled += wereWaiting
        waiting -= wereWaiting
    }

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

extension PostReport: CustomStringConvertible {
    /// Such as `delivered 2, waiting 1`, or `nobody`.
    public var description: String {
        let parts = [
            ("delivered", delivered), ("waiting", waiting), ("dropped", dropped), ("refused", refused),
            ("cancelled", cancelled), ("target gone", targetGone),
        ]
        .filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" }
        return parts.isEmpty ? "nobody" : parts.joined(separator: ", ")
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
