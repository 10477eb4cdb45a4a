internal import DeliveryRecording
internal import ThreadedNotifications

/// The claims of a flood, checked record by record: the records of a million notifications would need gigabytes.
package struct FloodTally: Sendable {
    private struct Post {
        var thread: Int
        /// Its place among the posts of all threads.
        var place: Int
        var isDelivered = false
    }

    private(set) var counts: [DeliveryStage: Int] = [:]
    /// By their numbers.
    private var posts: [Int: Post] = [:]
    private var delivered = 0
    /// By posting threads: the place of the last post that was delivered.
    private var lastPlaces: [Int: Int] = [:]
    /// The first notification that was lost, duplicated or handled on a thread other than main.
    private var found: String?
    /// The first notification that was handled after a later one of its thread.
    private var late: String?

    package init() {}

    init(_ records: [DeliveryRecord]) {
        for record in records { note(record.stage, record.post, on: record.thread) }
    }

    mutating func note(_ stage: DeliveryStage, _ post: Int?, on thread: ThreadIdentity) {
        counts[stage, default: 0] += 1
        switch stage {
        case .post: if let post { posts[post] = Post(thread: thread.number, place: posts.count) }
        case .deliver: deliver(post ?? 0, on: thread)
        default: break
        }
    }

    private mutating func deliver(_ number: Int, on thread: ThreadIdentity) {
        guard let post = posts[number] else {
            found = found ?? "post \(number) was not posted, but has an outcome"
            return
        }
        guard !post.isDelivered else {
            found = found ?? "post \(number) has a second outcome"
            return
        }
        posts[number]?.isDelivered = true
        delivered += 1
        if thread.number != 1 { found = found ?? "post \(number) was handled on \(thread)" }
        if let last = lastPlaces.updateValue(post.place, forKey: post.thread), last > post.place {
            late = late ?? "post \(number) was handled too late"
        }
    }

    /// Nil if each post was handled once, on the main thread.
    var fault: String? {
        if posts.isEmpty { return "nothing was posted" }
        return found ?? posts.first { !$0.value.isDelivered }.map { "post \($0.key) has no outcome" }
    }

    /// Nil if the posts of each thread were handled in the order of posting.
    var disorder: String? { delivered == 0 ? "nothing was delivered" : late }
}
