/// What became of the notifications enqueued to one ``PostingQueue``: `enqueued` is the sum of the others.
public struct PostingCounts: Sendable, Hashable {
    /// Handed to `enqueue`.
    public var enqueued: Int
    /// Posted to the queue's center.
    public var posted: Int
    /// Another one that is similar was kept instead.
    public var coalesced: Int
    /// Taken out by `dequeueNotifications`.
    public var dequeued: Int
    /// The queue's thread ended before.
    public var targetGone: Int
    /// Waits, or is just being enqueued or posted.
    public var waiting: Int

    public init(
        enqueued: Int = 0, posted: Int = 0, coalesced: Int = 0, dequeued: Int = 0, targetGone: Int = 0, waiting: Int = 0
    ) {
        self.enqueued = enqueued
        self.posted = posted
        self.coalesced = coalesced
        self.dequeued = dequeued
        self.targetGone = targetGone
        self.waiting = waiting
    }
}

extension PostingCounts: CustomStringConvertible {
    /// Such as `enqueued 3: posted 2, waiting 1`.
    public var description: String {
        let parts = [
            ("posted", posted), ("coalesced", coalesced), ("dequeued", dequeued), ("target gone", targetGone),
            ("waiting", waiting),
        ]
        .filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" }
        return parts.isEmpty ? "enqueued \(enqueued)" : "enqueued \(enqueued): " + parts.joined(separator: ", ")
    }
}
