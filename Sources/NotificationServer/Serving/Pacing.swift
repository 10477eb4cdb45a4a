internal import DistributedNotifications

/// Whether the server should let some more posts come together before it looks for them again.
///
/// To wake a sleeping server costs more than what it does for one post, and in a burst every post would. So when posts
/// come fast, it naps: it looks again after a moment, whatever comes meanwhile, and serves what has come together. A post that
/// comes alone, and whose answer is waited for, is served at once: that is never fast.
/// Times are the monotonic clock's, in nanoseconds.
struct Pacing {
    /// How long a nap is.
    static let nap: UInt64 = 40_000
    /// Posts that come faster than one in so long are a burst, when so many of them did.
    static let burstInterval: UInt64 = 12_000
    static let burstPosts = 32

    private var since: UInt64 = 0
    private var posts = 0

    /// A turn ended in which so many posts were served.
    /// - Returns: whether to nap.
    mutating func turnEnded(posts served: Int, now: UInt64) -> Bool {
        guard served > 0 else {
            posts = 0
            return false
        }
        if posts == 0 { since = now }
        posts += served
        guard posts > Self.burstPosts else { return false }
        let isBurst = now &- since < UInt64(posts) * Self.burstInterval
        // The last ones count, not those of an hour ago.
        if posts > 4 * Self.burstPosts || !isBurst {
            posts = isBurst ? Self.burstPosts : 0
            since = now &- UInt64(posts) * Self.burstInterval / 2
        }
        return isBurst
    }
}
