public import ThreadedNotifications

/// One stage of one delivery, as it was recorded. Values that a stage does not have are nil.
public struct DeliveryRecord: Sendable, Hashable {
    /// The sequence number of the record in its process, from 1 without gaps.
    public var sequence: Int
    /// The time of the monotonic clock, in nanoseconds. Comparable between processes of one computer.
    public var monotonicNanoseconds: UInt64
    /// The time of the wall clock, in nanoseconds since 1970 in UTC.
    public var wallNanoseconds: Int64
    /// The process that made the record.
    public var process: ProcessIdentity
    /// The thread on which the stage happened.
    public var thread: ThreadIdentity
    /// False for a record of the process as a whole that has no thread, such as an `end`. `thread` is then the main
    /// thread.
    public var isThreadKnown = true
    public var stage: DeliveryStage
    /// The name of the notification.
    public var notification: String?
    /// The number of the post in its process.
    public var post: Int?
    /// The number of the observer in its process.
    public var observer: Int?
    /// The thread that should handle the notification. Of `wait`, the thread that is waited for.
    public var target: ThreadIdentity?
    /// Output of the program. Of `wait`, what it waits for. Of `refuseWait`, the cycle.
    public var message: String?
    /// The source location of the call that posts, adds the observer or waits. Of a call to Foundation whose location
    /// is unknown: the calling function or address, with line 0.
    public var location: SourceLocation?
    /// Of `post` and `capture`: the number of matching observers. Of `remove`: the number of its handlers that run. Of
    /// `lost`: the number of lost records. Of `drop`: the capacity of the policy. Of `processEnd`: the exit status. Of
    /// `postEnd`, and of the `post` that it ends: the number of handlers that the post called.
    public var count: Int?
    /// The object of the notification, or the object that the observer asks for.
    public var sender: Sender?
    /// Another post of the process. Of `capture`: the post of the posting queue. Of `coalesce`: the post that replaces
    /// this one.
    public var relatedPost: Int?
    /// Of `deliver`: true if it overtakes others that wait, because of `SameThreadPolicy.atOnce`.
    public var overtakes: Bool
    /// Of `enqueue`: the posting style.
    public var style: Style?
    /// Of `drop`: the overflow policy of the observer.
    public var policy: Policy?
    /// Of `end` and `processEnd`: how the process or its recording ended. Of `targetGone`: why the target thread
    /// accepts nothing; nil if it has ended or was told to stop. Of `waitEnd`: `timedOut`, or nil. Of `remove`: what
    /// removed the observer, or `alreadyRemoved`; nil if that is not known.
    public var reason: Reason?
    /// Of `count`: the counters of an observer, or of a posting queue if the record has no observer.
    public var counters: DeliveryCounters?
    /// Of a call to Foundation's own center or notification queue; otherwise nil.
    public var foundation: FoundationDetails?

    /// The object of a notification: its identifier and type.
    public typealias Sender = DeliveryEvent.Sender

    /// A posting style.
    public enum Style: String, Sendable, Hashable, CaseIterable {
        case now
        case asap
        case whenIdle
    }

    /// An overflow policy that drops notifications.
    public enum Policy: String, Sendable, Hashable, CaseIterable {
        case dropOldest
        case dropNewest
        case refuse
        /// In recordings of earlier versions: `post` waited for room.
        case block
    }

    /// What a record has of Foundation's own API.
    public struct FoundationDetails: Sendable, Hashable {
        /// The address of the notification center, in hexadecimal.
        public var center: String?
        /// Of `register`: the operation queue that runs the handler, `main` or its address in hexadecimal. Nil means
        /// that the handler is called on the posting thread.
        public var queue: String?
        /// True if Foundation itself made the call, such as the post of a process's end.
        public var isCalledByFoundation: Bool

        public init(center: String? = nil, queue: String? = nil, isCalledByFoundation: Bool = false) {
            self.center = center
            self.queue = queue
            self.isCalledByFoundation = isCalledByFoundation
        }
    }

    /// How something ended, or why it accepts nothing.
    public enum Reason: Sendable, Hashable {
        /// The process exited.
        case exit
        /// The recording was stopped.
        case stopped
        /// A signal ended the process.
        case signal(UInt8)
        /// The thread was never started.
        case notStarted
        /// The wait lasted for its timeout.
        case timedOut
        /// The observer to remove was not registered any more.
        case alreadyRemoved
        /// A call removed the observer.
        case cancelled
        /// The last reference to the observer's token was released.
        case released
    }

    public init(
        sequence: Int, monotonicNanoseconds: UInt64, wallNanoseconds: Int64, process: ProcessIdentity,
        thread: ThreadIdentity, stage: DeliveryStage, notification: String? = nil, post: Int? = nil,
        observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil, location: SourceLocation? = nil,
        count: Int? = nil, sender: Sender? = nil, relatedPost: Int? = nil, overtakes: Bool = false,
        style: Style? = nil, policy: Policy? = nil, reason: Reason? = nil, counters: DeliveryCounters? = nil,
        foundation: FoundationDetails? = nil
    ) {
        self.sequence = sequence
        self.monotonicNanoseconds = monotonicNanoseconds
        self.wallNanoseconds = wallNanoseconds
        self.process = process
        self.thread = thread
        self.stage = stage
        self.notification = notification
        self.post = post
        self.observer = observer
        self.target = target
        self.message = message
        self.location = location
        self.count = count
        self.sender = sender
        self.relatedPost = relatedPost
        self.overtakes = overtakes
        self.style = style
        self.policy = policy
        self.reason = reason
        self.counters = counters
        self.foundation = foundation
    }

    /// The message and the typed details of the stage in words, such as `dropOldest(3)` or `signal 11`; nil if there
    /// are none.
    public var details: String? {
        let details = [
            overtakes ? "overtakes" : nil, style?.rawValue,
            policy.map { policy in count.map { "\(policy.rawValue)(\($0))" } ?? policy.rawValue },
            reason.map { reason in reason == .exit ? count.map { "exit \($0)" } ?? "exit" : reason.description },
            counters?.description, message,
        ].compactMap(\.self)
        return details.isEmpty ? nil : details.joined(separator: ", ")
    }
}

extension DeliveryRecord.Reason: CustomStringConvertible {
    /// The values of `reason` in a record, except `signal`, and their words.
    private static let names: [(name: String, words: String, reason: Self)] = [
        ("exit", "exit", .exit), ("stopped", "stopped", .stopped), ("notStarted", "not started", .notStarted),
        ("timedOut", "timed out", .timedOut), ("alreadyRemoved", "already removed", .alreadyRemoved),
        ("cancelled", "cancelled", .cancelled), ("released", "released", .released),
    ]

    private var names: (name: String, words: String)? {
        Self.names.first { $0.reason == self }.map { ($0.name, $0.words) }
    }

    /// `exit`, `stopped`, `signal 11`, `not started`, `timed out`, `already removed`, `cancelled` or `released`.
    public var description: String {
        if case .signal(let number) = self { "signal \(number)" } else { names?.words ?? "" }
    }

    /// True if a signal ended the process.
    public var isSignal: Bool {
        if case .signal = self { true } else { false }
    }

    /// - Parameter signal: the value of `signal` in the record, or 0.
    package init?(name: String, signal: UInt64) {
        if name == "signal" {
            self = .signal(UInt8(clamping: signal))
        } else if let known = Self.names.first(where: { $0.name == name }) {
            self = known.reason
        } else {
            return nil
        }
    }

    /// The values of `reason` and `signal` in a record.
    var fields: (name: String, signal: Int) {
        if case .signal(let number) = self { ("signal", Int(number)) } else { (names?.name ?? "", 0) }
    }
}
