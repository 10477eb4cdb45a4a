/// The posts that were sent to this bridge and are not yet known to be published, in order.
struct PublishWindow {
    struct Post {
        var subject: String
        var message: [UInt8]
        /// The connection to the local server that it came over. Only that one can be told.
        var connection: Int
        var isDone = false
    }

    private(set) var posts: ArraySlice<Post> = []
    /// The number of the first of them.
    private(set) var first: UInt64 = 0

    var next: UInt64 { first + UInt64(posts.count) }

    mutating func append(_ post: Post) { posts.append(post) }

    /// A post was published, or cannot be. Those that were published twice are also acknowledged twice.
    /// - Returns: false if that was known.
    @discardableResult mutating func finish(_ number: UInt64) -> Bool {
        guard number >= first, number < next else { return false }
        let index = posts.startIndex + Int(number - first)
        defer { posts[index].isDone = true }
        return !posts[index].isDone
    }

    /// Removes what is finished at the beginning.
    /// - Returns: how many of it came over this connection.
    mutating func removeFinished(of connection: Int) -> Int {
        var count = 0
        while let post = posts.first, post.isDone {
            posts.removeFirst()
            first += 1
            if post.connection == connection { count += 1 }
        }
        return count
    }

    /// The posts to publish, from a number on.
    func unfinished(from number: UInt64 = 0) -> some Sequence<(number: UInt64, post: Post)> {
        let skipped = number > first ? Int(clamping: number - first) : 0
        return zip((first + UInt64(skipped))..., posts.dropFirst(skipped)).lazy
            .filter { !$0.1.isDone }.map { (number: $0.0, post: $0.1) }
    }
}
