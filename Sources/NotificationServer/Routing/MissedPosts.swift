internal import DistributedNotifications

/// The numbers of posts that a client did not receive, for a gap.
struct MissedPosts: Hashable, Sendable {
    /// The number of posts.
    var count = 0
    /// The number for each observer. A post may be for several observers.
    var registrations: [UInt32: Int] = [:]

    var isEmpty: Bool { count == 0 }

    /// Counts one post.
    /// - Parameter observers: the observers that it was for.
    mutating func add(_ observers: [MatchingObserver]) {
        count += 1
        for observer in observers { registrations[observer.registration, default: 0] += 1 }
    }

    /// Removes an observer. Without observers no gap is sent, so the number of posts is reset.
    mutating func forget(_ registration: UInt32) {
        guard registrations.removeValue(forKey: registration) != nil, registrations.isEmpty else { return }
        self = MissedPosts()
    }
}
