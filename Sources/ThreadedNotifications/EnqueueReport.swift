/// What `enqueue` did with a notification, and with those that waited and are similar.
public struct EnqueueReport: Sendable, Hashable {
    /// What became of the notification itself, as far as `enqueue` knows.
    public enum Outcome: Sendable, Hashable {
        /// It was posted before `enqueue` returned.
        case posted
        /// It waits to be posted.
        case waiting
        /// One that is similar and was kept stands for it.
        case coalesced
        /// It was taken out again before `enqueue` returned: by a handler, or by another thread.
        case dequeued
        /// The queue's thread has ended; nobody will post it.
        case targetGone
    }

    /// What became of the notification itself.
    public internal(set) var outcome: Outcome
    /// How many that waited were taken out, because they are similar.
    public internal(set) var removed: Int
}

extension EnqueueReport: CustomStringConvertible {
    /// Such as `waiting, 2 removed`, or `posted`.
    public var description: String {
        let what =
            switch outcome {
            case .posted: "posted"
            case .waiting: "waiting"
            case .coalesced: "coalesced"
            case .dequeued: "dequeued"
            case .targetGone: "target gone"
            }
        return removed == 0 ? what : "\(what), \(removed) removed"
    }
}
