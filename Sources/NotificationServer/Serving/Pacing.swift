/// Decides whether the server waits for more posts before its next turn.
///
/// Waking a sleeping server costs more than serving a post, and in a burst each post would wake it. So in a burst it
/// naps after a turn, and then serves all posts that have arrived. A post that comes alone is served immediately,
/// because single posts are never a burst. Times are the monotonic clock's, in nanoseconds.
struct Pacing {
    /// The length of a nap.
    static let nap: UInt64 = 40_000
    /// More than `burstPosts` posts are a burst if each took less than `burstInterval` on average.
    static let burstInterval: UInt64 = 12_000
    static let burstPosts = 32

    private var since: UInt64 = 0
    private var posts = 0

    /// - Parameter served: the posts of the turn that ended.
    /// - Returns: whether to nap.
    mutating func turnEnded(posts served: Int, now: UInt64) -> Bool {
        if posts == 0 || served == 0 { (since, posts) = (now, 0) }
        posts += served
        guard posts > Self.burstPosts else { return false }
        let isBurst = now &- since < UInt64(posts) * Self.burstInterval
        // Only recent posts count.
        if posts > 4 * Self.burstPosts || !isBurst {
            posts = isBurst ? Self.burstPosts : 0
            since = now &- UInt64(posts) * Self.burstInterval / 2
        }
        return isBurst
    }
}
