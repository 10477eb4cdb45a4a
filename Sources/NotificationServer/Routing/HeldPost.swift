internal import DistributedNotifications

/// A post that a `SuspensionBuffer` can hold.
protocol HeldPost {
    /// A concrete name and object. For observers that coalesce, a later post with an equal key replaces an earlier one.
    associatedtype Key: Hashable

    var key: Key { get }
    /// The memory that it takes.
    var byteCount: Int { get }
}
