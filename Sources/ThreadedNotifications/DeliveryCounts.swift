/// What became of the notifications posted for one observer (guarantee 14): `posted` is the sum of the others.
public struct DeliveryCounts: Sendable, Hashable {
    /// Posted while the observer was registered, with a name and object that match.
    public var posted = 0
    /// Its handler was called.
    public var delivered = 0
    /// A later one took its place (`OverflowPolicy.keepLatest`).
    public var coalesced = 0
    /// Dropped by the overflow policy.
    public var dropped = 0
    /// The observer was removed before.
    public var cancelled = 0
    /// The target thread ended before.
    public var targetGone = 0
    /// Waits, or is just being handed over.
    public var pending = 0

    /// Nothing yet.
    public init() {}
}
