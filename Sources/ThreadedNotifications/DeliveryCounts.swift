/// What became of the notifications posted for one observer (guarantee 14): `posted` is the sum of the others.
public struct DeliveryCounts: Sendable, Hashable {
    /// Posted while the observer was registered, with a name and object that match, and of which its mapping made something.
    public var posted: Int
    /// Its handler was called.
    public var delivered: Int
    /// A later one took its place (`OverflowPolicy.keepLatest`).
    public var coalesced: Int
    /// Dropped by the overflow policy, also by the one that refuses.
    public var dropped: Int
    /// The observer was removed before.
    public var cancelled: Int
    /// The target thread ended before.
    public var targetGone: Int
    /// Waits, or is just being handed over.
    public var pending: Int

    public init(
        posted: Int = 0, delivered: Int = 0, coalesced: Int = 0, dropped: Int = 0, cancelled: Int = 0,
        targetGone: Int = 0, pending: Int = 0
    ) {
        self.posted = posted
        self.delivered = delivered
        self.coalesced = coalesced
        self.dropped = dropped
        self.cancelled = cancelled
        self.targetGone = targetGone
        self.pending = pending
    }
}

extension DeliveryCounts: CustomStringConvertible {
    /// Such as `posted 3: delivered 2, pending 1`.
    public var description: String {
        let parts = [
            ("delivered", delivered), ("coalesced", coalesced), ("dropped", dropped), ("cancelled", cancelled),
            ("target gone", targetGone), ("pending", pending),
        ]
        .filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" }
        return parts.isEmpty ? "posted \(posted)" : "posted \(posted): " + parts.joined(separator: ", ")
    }
}
