internal import DistributedNotifications

/// An observer of a client that matches a post.
struct MatchingObserver: Hashable, Sendable {
    /// The number that the client gave it.
    var registration: UInt32
    var behavior: SuspensionBehavior
}
