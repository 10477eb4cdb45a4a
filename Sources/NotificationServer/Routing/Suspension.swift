internal import DistributedNotifications

/// The suspension of one client, and the posts that are held for it.
///
///                  setSuspended(true)
///     running ──────────────────────────► suspended ─┐ held, coalesced, discarded
///     delivers all ◄────────────────────── flushes ◄─┘ flushes before an immediate delivery, and stays suspended
///                  setSuspended(false)
///
/// It follows the table of suspension behaviors. A post is one entry, however many of the client's observers match it.
/// If one of them receives it immediately, all receive it, except those that drop. Posts with the same name and object
/// match the same observers, apart from those that were added or removed in between.
///
/// Cost: a branch while the client is not suspended; otherwise that of a dictionary, however much is held.
/// Unregistering looks at all entries, and flushing sorts them.
struct Suspension {
    /// A held post, and the observers that have not received it, in the order of registration.
    struct Entry {
        var post: HeldPost
        var observers: [MatchingObserver]
        /// The bytes that count towards the limits.
        var byteCount: Int
    }

    /// The frames for the client, in this order: the gap, the held entries, and the post itself to `observers`.
    struct Delivery {
        /// The number of posts discarded since the last flush; nil if all were kept. It is 0 if some were skipped as
        /// the observers asked for: then the client's posts do not follow each other.
        var gap: Int?
        /// Posts between the entries were discarded too.
        var hasHoles = false
        var entries: [Entry] = []
        var observers: [MatchingObserver] = []
    }

    private let limits: ServerLimits
    /// By numbers in the order of arrival: all are from `oldest` on and below `next`.
    private var entries: [Int: Entry] = [:]
    private var (oldest, next) = (0, 0)
    /// The last entry with a key that has observers which coalesce.
    private var coalescing: [NameAndObject: Int] = [:]
    private var gap: Int?
    private var hasHoles = false

    private(set) var isSuspended = false
    private(set) var byteCount = 0
    /// The outcomes of the posts that were not delivered.
    private(set) var counts = NotificationCounts()

    var entryCount: Int { entries.count }

    init(_ limits: ServerLimits) { self.limits = limits }

    /// - Returns: all held posts when the client resumes; otherwise nothing.
    mutating func setSuspended(_ flag: Bool) -> Delivery {
        isSuspended = flag
        return flag ? Delivery() : flush()
    }

    /// Removes an observer from all held posts.
    mutating func unregister(_ registration: UInt32) {
        for number in Array(entries.keys) where removeObservers(of: number, where: { $0.registration == registration })
        {
            counts.removed += 1
        }
    }

    /// Removes all posts, for a client that has ended.
    mutating func removeAll() { counts.removed += flush().entries.count }

    /// - Parameters:
    ///   - post: evaluated only if the post is held.
    ///   - observers: those of the client that match.
    ///   - immediately: whether the poster asked for delivery to suspended clients.
    ///   - spareBytes: how many more bytes the server may hold for all clients.
    mutating func decide(
        _ post: @autoclosure () -> HeldPost, observers: [MatchingObserver], immediately: Bool, spareBytes: Int
    ) -> Delivery {
        guard isSuspended, !observers.isEmpty else { return Delivery(observers: observers) }
        if immediately { return flush(before: observers) }
        let kept = observers.filter { $0.behavior != .drop }
        if kept.contains(where: { $0.behavior == .deliverImmediately }) { return flush(before: kept) }
        guard !kept.isEmpty else {
            counts.suppressed += 1
            gap = gap ?? 0
            return Delivery()
        }
        return hold(post(), kept, spareBytes: spareBytes)
    }

    private mutating func hold(_ post: HeldPost, _ observers: [MatchingObserver], spareBytes: Int) -> Delivery {
        let size = post.payload.count + observers.count * Wire.heldObserverBytes
        // The bytes that all clients share include those that are held for this one.
        let room = min(limits.heldBytesPerClient, spareBytes + byteCount)
        guard limits.heldEntriesPerClient > 0, size <= room else {
            // It would not fit even in an empty queue, so no other post is discarded for it.
            if limits.heldOverflow == .deliver { return flush(before: observers) }
            discard()
            hasHoles = hasHoles || !entries.isEmpty
            return Delivery()
        }
        let coalesces = observers.contains { $0.behavior == .coalesce }
        if coalesces, let earlier = coalescing[post.key],
            removeObservers(of: earlier, where: { $0.behavior == .coalesce })
        {
            counts.coalesced += 1
            gap = gap ?? 0
        }
        var delivery = Delivery()
        while entries.count >= limits.heldEntriesPerClient || byteCount + size > room {
            if limits.heldOverflow == .deliver {
                delivery = flush()
            } else {
                if remove(oldest) != nil { discard() }
                oldest += 1
            }
        }
        entries[next] = Entry(post: post, observers: observers, byteCount: size)
        if coalesces { coalescing[post.key] = next }
        next += 1
        byteCount += size
        return delivery
    }

    /// - Returns: whether the entry was removed, because it has no other observers.
    private mutating func removeObservers(of number: Int, where isRemoved: (MatchingObserver) -> Bool) -> Bool {
        entries[number]?.observers.removeAll(where: isRemoved)
        return entries[number]?.observers.isEmpty == true && remove(number) != nil
    }

    private mutating func remove(_ number: Int) -> Entry? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        byteCount -= entry.byteCount
        if coalescing[entry.post.key] == number { coalescing[entry.post.key] = nil }
        return entry
    }

    private mutating func discard() {
        counts.discarded += 1
        gap = (gap ?? 0) + 1
    }

    private mutating func flush(before observers: [MatchingObserver] = []) -> Delivery {
        let held = entries.sorted { $0.key < $1.key }.map(\.value)
        let delivery = Delivery(gap: gap, hasHoles: hasHoles, entries: held, observers: observers)
        (entries, coalescing, byteCount, gap, hasHoles, oldest) = ([:], [:], 0, nil, false, next)
        return delivery
    }
}

/// A post that is held for suspended clients; they share its bytes.
struct HeldPost: Sendable {
    /// For observers that coalesce, a later post with an equal key replaces an earlier one.
    var key: NameAndObject
    /// The poster's process.
    var sender: Int32
    var payload: [UInt8]
}
