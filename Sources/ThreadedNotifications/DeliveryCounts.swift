/// What became of the notifications posted for one observer (guarantee 14): `posted` is the sum of the others.
public struct DeliveryCounts: Sendable, Hashable {
    /// Posted while the observer was registered, with a name and object that match.
    public var posted: Int
    /// Its handler was called.
    public var delivered: Int
    /// A later one took its place (`OverflowPolicy.keepLatest`).
    public var coalesced: Int
    /// Dropped by the overflow policy.
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
