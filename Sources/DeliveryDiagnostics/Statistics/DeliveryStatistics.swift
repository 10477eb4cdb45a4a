package import DeliveryRecording

/// Counts, durations and mailbox depths of a recording: in total, and by name, observer and thread.
///
/// The outcomes in total, by name and by observer are those of `Audit`.
///
/// Values without any records are nil, not 0.
package struct DeliveryStatistics: Sendable, Encodable {
    /// The statistics of one name, observer or thread, or of all.
    package struct Group: Sendable, Encodable {
        package var label: String
        /// For an observer: the source location of its registration.
        package var location: String?
        /// The number of posts, with those that no observer matched. For a thread: of posts made on it. Nil for an
        /// observer.
        package var posted: Int?
        /// For an observer: the number of posts that matched it.
        package var matched: Int?
        /// For a thread: deliveries on it.
        package var delivered = 0
        /// This and the next four, for a thread: in its mailbox.
        package var coalesced = 0
        package var dropped = 0
        package var cancelled = 0
        package var targetGone = 0
        /// Deliveries that are still waiting when the recording ends.
        package var pending = 0
        /// Deliveries without a record of their outcome. For a thread: 0.
        package var lost = 0
        /// Deliveries without a `return` record, if the recording has `return` records for them.
        package var neverReturned = 0
        package var postsPerSecond: Double?
        /// The times from `post` to `deliver`.
        package var postToDelivery: Distribution?
        /// The times from `append` to `deliver`.
        package var waiting: Distribution?
        /// The times from `deliver` to `return`, including nested deliveries.
        package var handler: Distribution?

        var posts: Int { posted ?? matched ?? 0 }
    }

    /// The mailbox, drains and waits of a thread.
    package struct Mailbox: Sendable, Encodable {
        package var label: String
        /// Notifications and blocks that were appended to it.
        package var appended = 0
        package var highestDepth: Int?
        /// Averaged over the time of the recording.
        package var meanDepth: Double?
        package var signals = 0
        package var drains = 0
        package var deliveriesPerDrain: Distribution?
        /// The times that the thread waited for others.
        package var waits: Distribution?
        /// Waits without an end in the recording.
        package var endlessWaits = 0
    }

    package struct Queues: Sendable, Encodable {
        package var enqueued = 0
        package var posted = 0
        package var coalesced = 0
        package var dequeued = 0
        package var targetGone = 0
        /// The times from `enqueue` to `post`.
        package var waiting: Distribution?
    }

    /// The label of performed blocks, which have no name.
    static let blocks = "(blocks)"

    package internal(set) var source: String
    package internal(set) var recordCount = 0
    package internal(set) var processCount = 0
    package internal(set) var threadCount = 0
    package internal(set) var nanoseconds: UInt64 = 0
    package internal(set) var total = Group(label: "all")
    package internal(set) var signals = 0
    package internal(set) var lostSignals = 0
    package internal(set) var drains = 0
    package internal(set) var deliveriesPerDrain: Distribution?
    package internal(set) var waits: Distribution?
    /// Waits that would have deadlocked.
    package internal(set) var refusedWaits = 0
    package internal(set) var queues = Queues()
    /// In descending order of posts and deliveries.
    package internal(set) var names: [Group] = []
    package internal(set) var observers: [Group] = []
    /// In the order of processes and thread numbers.
    package internal(set) var threads: [Group] = []
    package internal(set) var mailboxes: [Mailbox] = []

    /// Counts the selected records, by default all.
    package init(_ index: RecordingIndex, _ selection: RecordingSelection? = nil) {
        var collector = StatisticsCollector(index, selection ?? RecordingSelection(all: index.recording))
        self = collector.collect()
    }

    init(source: String) {
        self.source = source
    }
}
