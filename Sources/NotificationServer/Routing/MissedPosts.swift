internal import DistributedNotifications

/// Posts that a client does not get, counted: what a gap tells.
struct MissedPosts: Hashable, Sendable {
    /// How many posts.
    var count = 0
    /// For each registration how many; a post may be for several.
    var registrations: [UInt32: Int] = [:]

    var isEmpty: Bool { count == 0 }

    /// One post that was owed to these.
    mutating func add(_ observers: [MatchingObserver]) {
        count += 1
        for observer in observers { registrations[observer.registration, default: 0] += 1 }
    }

    /// Those that are left have their own counts; if nobody is left, nobody is to be told.
    mutating func forget(_ registration: UInt32) {
        guard registrations.removeValue(forKey: registration) != nil, registrations.isEmpty else { return }
        self = MissedPosts()
    }
}
