package import DeliveryRecording

/// Counts, durations and mailbox depths of a recording: in total, and by name, observer and thread.
///
/// The counts are those of `Accounts`, and add up. Values without any records are nil, not 0.
package struct DeliveryStatistics: Sendable, Encodable {
    /// The statistics of one name, observer or thread, or of all.
    package struct Group: Sendable, Encodable {
        package var label: String
        /// Of an observer, as are the location, the thread that it was added for or those of its handlers, and the
        /// overflow policies that dropped notifications.
        var name: String?
        var location: String?
        var threads: [String] = []
        var policies: [String] = []
        /// The number of posts, with those that no observer matched. For a thread: of posts made on it. Nil for an
        /// observer.
        package var posted: Int? = 0
        /// Of a name, and in total: posts that no observer matched.
        var unobserved = 0
        /// For a thread: what was delivered on it, or was in its mailbox.
        var counts = Accounts.Counts()
        /// Deliveries without a `return` record, if the recording has `return` records for them.
        var neverReturned = 0
        /// The time of the recording in which it was counted.
        let seconds: Double
        /// The times from `post` to `deliver`, from `append` to `deliver`, and from `deliver` to `return`, including
        /// nested deliveries.
        var latencies: [UInt64] = [], waits: [UInt64] = [], durations: [UInt64] = []

        init(_ label: String, seconds: Double) { (self.label, self.seconds) = (label, seconds) }

        package var postToDelivery: Distribution? { Distribution(of: latencies) }
        var waiting: Distribution? { Distribution(of: waits) }
        package var handler: Distribution? { Distribution(of: durations) }

        package subscript(count: Accounts.Count) -> Int { counts[count] }

        /// Posts, or matches of an observer.
        var posts: Int { posted ?? counts[.matched] }
        var postsPerSecond: Double? { seconds > 0 && posts > 0 ? Double(posts) / seconds : nil }
        var weight: Int { posts + counts[.delivered] }
        var isUsed: Bool { weight + counts[.matched] > 0 }

        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(_ text: String) { stringValue = text }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        package func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: Key.self)
            func encode(_ pairs: KeyValuePairs<String, (some Encodable)?>) throws {
                for (key, value) in pairs { try values.encodeIfPresent(value, forKey: Key(key)) }
            }
            for count in Accounts.Count.allCases { try values.encode(counts[count], forKey: Key("\(count)")) }
            try encode(["posted": posted, "unobserved": unobserved, "neverReturned": neverReturned])
            try encode(["label": label, "name": name, "location": location])
            try encode(["threads": threads.isEmpty ? nil : threads, "policies": policies.isEmpty ? nil : policies])
            try encode(["postsPerSecond": postsPerSecond])
            try encode(["postToDelivery": postToDelivery, "waiting": waiting, "handler": handler])
        }
    }

    /// The mailbox, drains and waits of a thread.
    package struct Mailbox: Sendable, Encodable {
        var label: String
        /// Notifications and blocks that were appended to it.
        var appended = 0
        var highestDepth: Int?
        /// Averaged over the time of the recording.
        var meanDepth: Double?
        var signals = 0
        var drains = 0
        var deliveriesPerDrain: Distribution?
        /// The times that the thread waited for others.
        var waits: Distribution?
        /// Waits without an end in the recording.
        var endlessWaits = 0

        var isUsed: Bool { appended + signals + drains + endlessWaits + (waits?.count ?? 0) > 0 }
    }

    package struct Queues: Sendable, Encodable {
        var enqueued = 0
        var posted = 0
        var coalesced = 0
        var dequeued = 0
        var targetGone = 0
        /// The times from `enqueue` to `post`.
        var waiting: Distribution?
    }

    /// What one process posted to others, and a recorded process received; or nobody, if `receiver` is nil.
    package struct Link: Sendable, Encodable {
        let sender: String
        let receiver: String?
        var notifications = 0
        /// The times from the post to the reader of the receiver's center.
        var times: Distribution?
    }

    /// The label of performed blocks, which have no name.
    static let blocks = "(blocks)"

    var source: String
    var recordCount = 0
    var processCount = 0
    var threadCount = 0
    let nanoseconds: UInt64
    package var total: Group
    var signals = 0
    var lostSignals = 0
    var drains = 0
    var deliveriesPerDrain: Distribution?
    var waits: Distribution?
    /// Waits that would have deadlocked.
    var refusedWaits = 0
    var queues = Queues()
    /// In descending order of posts and deliveries.
    var names: [Group] = []
    var observers: [Group] = []
    /// In the order of processes and thread numbers.
    var threads: [Group] = []
    var mailboxes: [Mailbox] = []
    /// In the order of their first posts.
    var betweenProcesses: [Link] = []
}
