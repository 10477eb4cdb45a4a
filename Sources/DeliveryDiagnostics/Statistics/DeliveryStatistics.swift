/// What a recording amounts to: how many, how long, how deep; of all, and by name, observer and thread.
///
/// What nothing is recorded of is nil, and not 0.
public struct DeliveryStatistics: Sendable, Encodable {
    /// What the deliveries of one name, observer or thread have in common; or all.
    public struct Group: Sendable, Encodable {
        /// As it is spoken of.
        public var label: String
        /// Of an observer: where it was registered.
        public var place: String?
        /// All: posts. Of a name: posts of it. Of an observer: what was for it. Of a thread: posts on it.
        public var posted = 0
        /// Of a thread: on it.
        public var delivered = 0
        /// Of a thread, here and in the next four: in its mailbox.
        public var coalesced = 0
        public var dropped = 0
        public var cancelled = 0
        public var targetGone = 0
        /// What still waits for delivery when the recording ends.
        public var pending = 0
        /// Deliveries whose handlers did not return, where the recording tells returns.
        public var neverReturned = 0
        public var postsPerSecond: Double?
        /// The times from `post` to `deliver`.
        public var postToDelivery: Distribution?
        /// The times from `append` to `deliver`, of what was not delivered at once.
        public var waiting: Distribution?
        /// The times from `deliver` to `return`, with what is delivered within.
        public var handler: Distribution?
    }

    /// What a thread has besides: a mailbox, drains, and waits.
    public struct Mailbox: Sendable, Encodable {
        public var label: String
        /// Deliveries that came to wait in it.
        public var appended = 0
        public var highestDepth: Int?
        /// Over the time of the recording.
        public var meanDepth: Double?
        /// Signals that were meant for it.
        public var signals = 0
        public var drains = 0
        public var deliveriesPerDrain: Distribution?
        /// The times for which the thread waited for others.
        public var waits: Distribution?
        /// Waits that did not end in the recording.
        public var endlessWaits = 0
    }

    /// What posting queues did.
    public struct Queues: Sendable, Encodable {
        public var enqueued = 0
        public var posted = 0
        public var coalesced = 0
        public var dequeued = 0
        public var targetGone = 0
        /// The times from `enqueue` to `post`.
        public var waiting: Distribution?
    }

    /// What stands for a name where blocks are performed.
    static let blocks = "(blocks)"

    public internal(set) var source: String
    public internal(set) var records = 0
    public internal(set) var processes = 0
    public internal(set) var threadCount = 0
    /// From the first record to the last.
    public internal(set) var nanoseconds: UInt64 = 0
    public internal(set) var total = Group(label: "all")
    public internal(set) var signals = 0
    public internal(set) var lostSignals = 0
    public internal(set) var drains = 0
    public internal(set) var deliveriesPerDrain: Distribution?
    public internal(set) var waits: Distribution?
    /// Those that would have closed a cycle.
    public internal(set) var refusedWaits = 0
    public internal(set) var queues = Queues()
    /// The busiest first, which are those with the most posts and deliveries.
    public internal(set) var names: [Group] = []
    public internal(set) var observers: [Group] = []
    /// In the order of their processes and numbers.
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
