internal import DistributedNotifications

/// What a `SuspensionBuffer` holds.
protocol HeldPost {
    /// By which a later post takes the place of an earlier one: a concrete name and object. It is asked for only if an observer
    /// coalesces.
    associatedtype Key: Hashable

    var key: Key { get }
    /// How much memory it takes.
    var byteCount: Int { get }
}
