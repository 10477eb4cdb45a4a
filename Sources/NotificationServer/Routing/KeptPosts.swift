internal import DistributedNotifications

/// The posts that wait for a kept client: until it acknowledges them, and also while it is not connected.
///
///     keep ─► waiting ──sendNext──► sent ──acknowledge──► gone
///                ▲                   │
///                └─── begin, end ────┘
///
/// A connection that ends may have taken what it did not acknowledge, so a post may be sent twice; its sequence tells.
final class KeptPosts {
    /// The present connection, or the last one. Its observers stay registered.
    private(set) var owner: ServerClient
    private(set) var counts = NotificationCounts()
    /// When it is forgotten; nil while its client is connected.
    private(set) var endsAt: UInt64?
    private let limits: ServerLimits
    private var waiting = Queue()
    private var sent = Queue()
    /// How many of the posts that were sent over the present connection.
    private var acknowledged: UInt64 = 0

    init(_ owner: ServerClient, _ limits: ServerLimits) { (self.owner, self.limits) = (owner, limits) }

    var entryCount: Int { waiting.posts.count + sent.posts.count }
    var byteCount: Int { waiting.byteCount + sent.byteCount }

    /// A client has connected, and is sent everything.
    func begin(_ client: ServerClient) {
        owner.kept = nil
        (owner, client.kept, endsAt, acknowledged) = (client, self, nil, 0)
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

    /// Adds a post. While too many wait, the oldest are discarded, of those that are not sent.
    func keep(_ post: HeldPost) {
        counts.matched += 1
        waiting.append(post)
        while byteCount > limits.keptBytes, waiting.popFirst() != nil { counts.discarded += 1 }
    }

    /// The next post to send; nil if none waits, or until some are acknowledged.
    var next: HeldPost? {
        guard let next = waiting.posts.first, sent.posts.count < Wire.keptWindow,
            sent.byteCount + Queue.size(of: next) <= Wire.keptWindowBytes
        else { return nil }
        return next
    }

    func sendNext() { if let post = waiting.popFirst() { sent.append(post) } }

    /// The next post is of no observer any longer.
    func removeNext() { if waiting.popFirst() != nil { counts.removed += 1 } }

    /// - Parameter count: of all posts that were sent over this connection.
    func acknowledge(_ count: UInt64) throws(WireError) {
        guard (acknowledged...acknowledged + UInt64(sent.posts.count)).contains(count) else {
            throw .unknown("acknowledgement", "\(count)")
        }
        for _ in acknowledged..<count where sent.popFirst() != nil { counts.delivered += 1 }
        acknowledged = count
    }

    private struct Queue {
        private(set) var posts: ArraySlice<HeldPost> = []
        private(set) var byteCount = 0

        static func size(of post: HeldPost) -> Int { post.payload.count + Wire.heldObserverBytes }

        mutating func append(_ post: HeldPost) {
            posts.append(post)
            byteCount += Self.size(of: post)
        }

        mutating func append(_ queue: Queue) {
            posts.append(contentsOf: queue.posts)
            byteCount += queue.byteCount
        }

        mutating func popFirst() -> HeldPost? {
            guard let post = posts.first else { return nil }
            // A slice keeps its memory, and what was in it, until it has to grow.
            posts[posts.startIndex].payload = []
            posts.removeFirst()
            if posts.isEmpty { posts = [] }
            byteCount -= Self.size(of: post)
            return post
        }
    }
}
