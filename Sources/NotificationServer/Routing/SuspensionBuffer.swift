internal import DistributedNotifications

/// Whether one client is suspended, and what is held for it meanwhile, as a pure value.
///
///                  setSuspended(true)
///     running ──────────────────────────► suspended ─┐ held, coalesced, discarded
///     delivers all ◄────────────────────── flushes ◄─┘ flushed by what is delivered at once; and suspended still
///                  setSuspended(false)
///
/// It follows the table of suspension behaviors. One post is one entry, however many registrations it is for, so those are
/// treated alike: if one of them is to have it at once, all have, but those that drop.
///
/// It is told what the post is for and answers what to hand to the client, in this order: the gap, what was held, the post.
/// While it is not suspended nothing is held, and no gap is to be shown.
///
/// Cost: while running, a branch. While suspended, constant for each registration that the post is for, on average; to
/// unregister, for each entry that was owed to the registration.
struct SuspensionBuffer<Post: HeldPost> {
    /// What was held, and the registrations that it is still owed to, in the order in which they were made.
    struct Held {
        var post: Post
        var observers: [MatchingObserver]
    }

    /// What was discarded because too much was held.
    typealias Gap = MissedPosts

    /// What to hand to the client: the gap first, then the entries in the order in which they came.
    struct Flush {
        /// What was discarded since the last flush; nil: nothing.
        var gap: Gap?
        var entries: [Held] = []

        var isEmpty: Bool { gap == nil && entries.isEmpty }
    }

    /// What to do about a post: first this, then deliver it to those; nobody, if it is held, dropped or discarded.
    struct Decision {
        var flush = Flush()
        var observers: [MatchingObserver] = []
    }

    /// What it takes to hold for one registration that a post is owed to it, as it is counted. Without that a client with
    /// many registrations would be held more for than its limit.
    static var bytesPerObserver: Int { 64 }

    private let entryLimit: Int
    private let byteLimit: Int
    private let overflow: ServerLimits.HeldOverflow
    private var queue = HeldQueue<Post>()
    private var gap = Gap()

    private(set) var isSuspended = false
    /// How many posts were discarded in all; those by contract (drop, coalesce) are not among them.
    private(set) var discardedCount = 0

    var entryCount: Int { queue.count }
    /// What the entries take, with `bytesPerObserver` for each registration that they were owed to when they came.
    var byteCount: Int { queue.byteCount }

    init(entryLimit: Int, byteLimit: Int, overflow: ServerLimits.HeldOverflow) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
        self.overflow = overflow
    }

    /// - Returns: all that was held, if it is resumed; nothing, if it is suspended or was running.
    mutating func setSuspended(_ flag: Bool) -> Flush {
        isSuspended = flag
        return flag ? Flush() : flush()
    }

    /// Nothing of what is held is owed to the registration any more, and no gap is shown to it.
    mutating func unregister(_ registration: UInt32) {
        queue.remove(registration: registration)
        gap.forget(registration)
    }

    /// - Parameters:
    ///   - post: made only if the client is suspended and the post is to be held.
    ///   - owed: the client's registrations that match.
    ///   - immediately: whether its poster wants it delivered to those that are suspended too.
    ///   - spareBytes: how much the server may hold for all clients beside what it holds.
    mutating func decide(
        _ post: @autoclosure () -> Post, observers: [MatchingObserver], immediately: Bool, spareBytes: Int
    ) -> Decision {
        guard isSuspended else { return Decision(observers: observers) }
        if observers.isEmpty { return Decision() }
        if immediately { return Decision(flush: flush(), observers: observers) }
        let (kept, isUrgent) = keeping(observers)
        if isUrgent { return Decision(flush: flush(), observers: kept) }
        return kept.isEmpty ? Decision() : hold(post(), observers: kept, spareBytes: spareBytes)
    }

    /// - Returns: those that do not drop, and whether one of them is to have it at once.
    private func keeping(_ observers: [MatchingObserver]) -> (kept: [MatchingObserver], isUrgent: Bool) {
        var (drops, isUrgent) = (false, false)
        for observer in observers {
            drops = drops || observer.behavior == .drop
            isUrgent = isUrgent || observer.behavior == .deliverImmediately
        }
        return (drops ? observers.filter { $0.behavior != .drop } : observers, isUrgent)
    }

    private mutating func hold(_ post: Post, observers: [MatchingObserver], spareBytes: Int) -> Decision {
        let byteCount = HeldQueue<Post>.byteCount(of: post, observers: observers)
        // What all clients share, with what is held for this one.
        let share = min(byteLimit, spareBytes + queue.byteCount)
        guard entryLimit > 0, byteCount <= share else {
            // It does not fit, whatever is discarded for it; so nothing is.
            if overflow == .deliver { return Decision(flush: flush(), observers: observers) }
            discard(observers)
            return Decision()
        }
        let key = observers.contains { $0.behavior == .coalesce } ? post.key : nil
        if let key { queue.coalesce(observers, key: key) }
        var arrival = Decision()
        while queue.count >= entryLimit || queue.byteCount + byteCount > share {
            switch overflow {
            case .discardOldest: discard(queue.removeFirst().observers)
            case .deliver: arrival.flush = flush()
            }
        }
        queue.append(post, key: key, observers: observers)
        return arrival
    }

    private mutating func discard(_ observers: [MatchingObserver]) {
        discardedCount += 1
        gap.add(observers)
    }

    private mutating func flush() -> Flush {
        defer { gap = Gap() }
        return Flush(gap: gap.isEmpty ? nil : gap, entries: queue.removeAll())
    }
}
