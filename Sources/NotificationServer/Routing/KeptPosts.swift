internal import DistributedNotifications

/// The posts that wait for a kept client: until it acknowledges them, and also while it is not connected.
///
///     keep ─► waiting ──takeNext──► sent ──acknowledge──► gone
///                ▲                   │
///                └─── begin, end ────┘
///
/// A connection that ends may have taken what it did not acknowledge, so a post may be sent twice; its sequence tells.
final class KeptPosts {
    /// The present connection, or the last one. Its observers stay registered.
    private(set) var owner: ServerClient
    private(set) var byteCount = 0
    private(set) var counts = NotificationCounts()
    /// When it is forgotten; nil while its client is connected.
    private(set) var endsAt: UInt64?
    private let limits: ServerLimits
    private var waiting = Queue()
    private var sent = Queue()

    init(_ owner: ServerClient, _ limits: ServerLimits) { (self.owner, self.limits) = (owner, limits) }

    var entryCount: Int { waiting.posts.count + sent.posts.count }

    /// A client has connected, and is sent everything.
    func begin(_ owner: ServerClient) {
        (self.owner, endsAt) = (owner, nil)
        takeBack()
    }

    func end(now: UInt64) {
        endsAt = now &+ limits.keptTimeout.nanoseconds
        takeBack()
    }

    private func takeBack() {
        sent.append(waiting)
        (waiting, sent) = (sent, Queue())
    }

    /// - Returns: whether this or an older post was discarded, because too many wait.
    func keep(_ post: HeldPost) -> Bool {
        counts.matched += 1
        let size = Self.size(of: post)
        var discards = 0
        while byteCount + size > limits.keptBytes, let oldest = waiting.popFirst() {
            byteCount -= Self.size(of: oldest)
            discards += 1
        }
        if byteCount + size > limits.keptBytes {
            discards += 1
        } else {
            waiting.append(post)
            byteCount += size
        }
        counts.discarded += discards
        return discards > 0
    }

    /// The next post to send; nil if none waits, or until some are acknowledged.
    func takeNext() -> HeldPost? {
        guard sent.posts.count < Wire.keptWindow, sent.byteCount < Wire.keptWindowBytes else { return nil }
        guard let post = waiting.popFirst() else { return nil }
        sent.append(post)
        return post
    }

    /// The post taken last is of no observer any longer.
    func removeLastTaken() {
        guard let post = sent.popLast() else { return }
        byteCount -= Self.size(of: post)
        counts.removed += 1
    }

    /// - Parameter count: how many more of the posts that were sent.
    func acknowledge(_ count: Int) throws(WireError) {
        guard count <= sent.posts.count else { throw .unknown("acknowledgement", "\(count)") }
        for _ in 0..<count {
            if let post = sent.popFirst() { byteCount -= Self.size(of: post) }
        }
        counts.delivered += count
    }

    static func size(of post: HeldPost) -> Int { post.payload.count + Wire.heldObserverBytes }

    private struct Queue {
        private(set) var posts: ArraySlice<HeldPost> = []
        private(set) var byteCount = 0

        mutating func append(_ post: HeldPost) {
            posts.append(post)
            byteCount += size(of: post)
        }

        mutating func append(_ queue: Queue) {
            posts.append(contentsOf: queue.posts)
            byteCount += queue.byteCount
        }

        mutating func popFirst() -> HeldPost? { took(posts.popFirst()) }
        mutating func popLast() -> HeldPost? { took(posts.popLast()) }

        private mutating func took(_ post: HeldPost?) -> HeldPost? {
            if let post { byteCount -= size(of: post) }
            return post
        }
    }
}
