internal import DistributedNotifications

/// A registration of a client that a post is for.
struct MatchingObserver: Hashable, Sendable {
    /// As the client numbered it.
    var registration: UInt32
    var behavior: SuspensionBehavior
}
