internal import DistributedNotifications

/// The suspension of one client, and the posts that are held for it.
///
///                  setSuspended(true)
///     running ──────────────────────────► suspended ─┐ held, coalesced, discarded
///     delivers all ◄────────────────────── flushes ◄─┘ flushes before an immediate delivery, and stays suspended
///                  setSuspended(false)
///
/// It follows the table of suspension behaviors. A post is one entry, however many of the client's observers match it.
/// If one of them receives it immediately, all receive it, except those that drop.
///
/// Each call returns the frames to send to the client, in this order: the gap, the held posts, the post itself. While
/// the client is not suspended, nothing is held and there is no gap.
///
/// Cost: a branch while the client is not suspended. Otherwise constant on average for each observer that matches;
/// unregistering takes time for each entry that the observer has not received.
struct SuspensionBuffer<Post: HeldPost> {
    /// A held post, and the observers that have not received it, in the order of registration.
    struct Held {
        var post: Post
        var observers: [MatchingObserver]
    }

    /// The posts that were discarded because too many were held.
    typealias Gap = MissedPosts

    /// The frames to send to the client: the gap, then the entries in the order of arrival.
    struct Flush {
        /// The posts discarded since the last flush; nil if there are none.
        var gap: Gap?
        var entries: [Held] = []

        var isEmpty: Bool { gap == nil && entries.isEmpty }
    }

    /// The decision on a post: send the flush, then deliver the post to the observers. There are none if it is held,
    /// dropped or discarded.
    struct Decision {
        var flush = Flush()
        var observers: [MatchingObserver] = []
    }

    /// The bytes that count for each observer of a held post, so that many observers count towards the limit too.
    static var bytesPerObserver: Int { 64 }

    private let entryLimit: Int
    private let byteLimit: Int
    private let overflow: ServerLimits.HeldOverflow
    private var queue = HeldQueue<Post>()
    private var gap = Gap()

    private(set) var isSuspended = false
    /// What became of the posts that were not delivered.
    private(set) var counts = NotificationCounts()

    var entryCount: Int { queue.count }
    /// The bytes of the entries, with `bytesPerObserver` for each observer that matched.
    var byteCount: Int { queue.byteCount }

    init(entryLimit: Int, byteLimit: Int, overflow: ServerLimits.HeldOverflow) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
        self.overflow = overflow
    }

    /// - Returns: all held posts when the client resumes; otherwise nothing.
    mutating func setSuspended(_ flag: Bool) -> Flush {
        isSuspended = flag
        return flag ? Flush() : flush()
    }

    /// Removes an observer from all held posts and from the gap.
    mutating func unregister(_ registration: UInt32) {
        let before = queue.count
        queue.remove(registration: registration)
        counts.removed += before - queue.count
        gap.forget(registration)
    }

    /// Removes all posts of a client that has ended.
    mutating func removeAll() {
        counts.removed += queue.removeAll().count
        gap = Gap()
    }

    /// - Parameters:
    ///   - post: evaluated only if the post is held.
    ///   - owed: the client's registrations that match.
    ///   - immediately: whether the poster asked for delivery to suspended clients.
    ///   - spareBytes: how many more bytes the server may hold for all clients.
    mutating func decide(
        _ post: @autoclosure () -> Post, observers: [MatchingObserver], immediately: Bool, spareBytes: Int
    ) -> Decision {
        guard isSuspended else { return Decision(observers: observers) }
        if observers.isEmpty { return Decision() }
        if immediately { return Decision(flush: flush(), observers: observers) }
        let (kept, isUrgent) = keeping(observers)
        if isUrgent { return Decision(flush: flush(), observers: kept) }
        guard !kept.isEmpty else {
            counts.suppressed += 1
            return Decision()
        }
        return hold(post(), observers: kept, spareBytes: spareBytes)
    }

    /// - Returns: the observers that do not drop, and whether one of them receives the post immediately.
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
        // The bytes that all clients share include those that are held for this one.
        let share = min(byteLimit, spareBytes + queue.byteCount)
        guard entryLimit > 0, byteCount <= share else {
            // It would not fit even in an empty queue, so no other post is discarded for it.
            if overflow == .deliver { return Decision(flush: flush(), observers: observers) }
            discard(observers)
            return Decision()
        }
        let key = observers.contains { $0.behavior == .coalesce } ? post.key : nil
        if let key {
            let before = queue.count
            queue.coalesce(observers, key: key)
            counts.coalesced += before - queue.count
        }
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
        counts.discarded += 1
        gap.add(observers)
    }

    private mutating func flush() -> Flush {
        defer { gap = Gap() }
        return Flush(gap: gap.isEmpty ? nil : gap, entries: queue.removeAll())
    }
}
