internal import NIOCore

/// The posts that the local server sent and that are not yet known to be published, in order.
struct PublishWindow {
    struct Post {
        var subject: String
        var message: [UInt8]
        var isFinished = false
    }

    private var posts = CircularBuffer<Post>()
    /// The number of the first of them. Numbers are never used again.
    private(set) var first: UInt64 = 0

    var count: Int { posts.count }
    var next: UInt64 { first + UInt64(posts.count) }

    mutating func append(_ post: Post) { posts.append(post) }

    /// A post was published, or cannot be. It may be finished twice.
    /// - Returns: false if that was known.
    mutating func finish(_ number: UInt64) -> Bool {
        guard number >= first, number < next else { return false }
        defer { posts[index(of: number)].isFinished = true }
        return !self[number].isFinished
    }

    subscript(number: UInt64) -> Post { posts[index(of: number)] }

    private func index(of number: UInt64) -> CircularBuffer<Post>.Index {
        posts.index(posts.startIndex, offsetBy: Int(number - first))
    }

    /// Removes what is finished at the beginning.
    /// - Returns: how many.
    mutating func removeFinished() -> Int {
        let count = posts.prefix { $0.isFinished }.count
        posts.removeFirst(count)
        first += UInt64(count)
        return count
    }

    mutating func removeAll() {
        first = next
        posts.removeAll()
    }
}
