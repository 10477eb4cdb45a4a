/// Counts, durations and mailbox depths of a recording: in total, and by name, observer and thread.
///
/// Values without any records are nil, not 0.
public struct DeliveryStatistics: Sendable, Encodable {
    /// The statistics of one name, observer or thread, or of all.
    public struct Group: Sendable, Encodable {
        /// The name shown in reports.
        public var label: String
        /// For an observer: the source location of its registration.
        public var place: String?
        /// Total: all posts. Name: posts of it. Observer: posts that matched it. Thread: posts made on it.
        public var posted = 0
        /// For a thread: deliveries on it.
        public var delivered = 0
        /// This and the next four, for a thread: in its mailbox.
        public var coalesced = 0
        public var dropped = 0
        public var cancelled = 0
        public var targetGone = 0
        /// Deliveries that are still waiting when the recording ends.
        public var pending = 0
        /// Deliveries without a `return` record, if the recording has `return` records for them.
        public var neverReturned = 0
        public var postsPerSecond: Double?
        /// The times from `post` to `deliver`.
        public var postToDelivery: Distribution?
        /// The times from `append` to `deliver`.
        public var waiting: Distribution?
        /// The times from `deliver` to `return`, including nested deliveries.
        public var handler: Distribution?
    }

    /// The mailbox, drains and waits of a thread.
    public struct Mailbox: Sendable, Encodable {
        public var label: String
        /// Notifications and blocks that were appended to it.
        public var appended = 0
        public var highestDepth: Int?
        /// Averaged over the time of the recording.
        public var meanDepth: Double?
        /// Signals for its thread.
        public var signals = 0
        public var drains = 0
        public var deliveriesPerDrain: Distribution?
        /// The times that the thread waited for others.
        public var waits: Distribution?
        /// Waits without an end in the recording.
        public var endlessWaits = 0
    }

    /// The statistics of all posting queues.
    public struct Queues: Sendable, Encodable {
        public var enqueued = 0
        public var posted = 0
        public var coalesced = 0
        public var dequeued = 0
        public var targetGone = 0
        /// The times from `enqueue` to `post`.
        public var waiting: Distribution?
    }

    /// The label of performed blocks, which have no name.
    static let blocks = "(blocks)"

    public internal(set) var source: String
    public internal(set) var records = 0
    public internal(set) var processes = 0
    public internal(set) var threadCount = 0
    /// The time from the first record to the last.
    public internal(set) var nanoseconds: UInt64 = 0
    public internal(set) var total = Group(label: "all")
    public internal(set) var signals = 0
    public internal(set) var lostSignals = 0
    public internal(set) var drains = 0
    public internal(set) var deliveriesPerDrain: Distribution?
    public internal(set) var waits: Distribution?
    /// Waits that would have deadlocked.
    public internal(set) var refusedWaits = 0
    public internal(set) var queues = Queues()
    /// In descending order of posts and deliveries.
    public internal(set) var names: [Group] = []
    public internal(set) var observers: [Group] = []
    /// In the order of processes and thread numbers.
    public internal(set) var threads: [Group] = []
    public internal(set) var mailboxes: [Mailbox] = []

    public init(_ recording: Recording) {
        self.init(source: recording.source)
        var collector = StatisticsCollector(recording)
        collector.collect(into: &self)
    }

    private init(source: String) {
        self.source = source
    }
}
