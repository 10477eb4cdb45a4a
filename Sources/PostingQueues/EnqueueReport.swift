public import ThreadedNotifications

/// The result of `PostingQueue.enqueue`.
public struct EnqueueReport: Sendable, Hashable {
    /// The outcome of the notification when `enqueue` returned.
    ///
    /// `delivered`: it was posted. `coalesced`: a similar notification that was kept replaced it. `cancelled`: it was
    /// dequeued before `enqueue` returned, by a handler or by another thread.
    public internal(set) var outcome: DeliveryOutcome
    /// The number of similar notifications that were removed from the queue.
    public internal(set) var removed: Int
}

extension EnqueueReport: CustomStringConvertible {
    /// `waiting, 2 removed`, or `posted`.
    public var description: String {
        let words =
            switch outcome {
            case .delivered: "posted"
            case .cancelled: "dequeued"
            default: outcome.words
            }
        return removed == 0 ? words : "\(words), \(removed) removed"
    }
}
