public import ThreadedNotifications

/// One stored stage of one delivery. Scenarios make records; whatever is shown, checked or compared is a function of
/// records.
public struct DeliveryRecord: Sendable, Hashable, Codable {
    /// The place in the recording, from 1 without gaps: the order in which the stages were recorded.
    public var sequence: Int
    /// The system's monotonic clock, in nanoseconds; comparable between processes of one computer.
    public var monotonicNanoseconds: UInt64
    /// The wall clock, in nanoseconds since 1970 began in UTC.
    public var wallNanoseconds: Int64
    /// The process whose stage this is.
    public var process: ProcessIdentity
    /// The thread on which it happened.
    public var thread: ThreadIdentity
    public var stage: DeliveryStage
    /// The notification's name, where the stage has one.
    public var notification: String?
    /// Which post of the recording this is a stage of; posts are numbered by whoever posts.
    public var post: Int?
    /// Which observer of the process this is a stage of, where observers are told apart.
    public var observer: Int?
    /// The thread that should handle it, where the stage knows it.
    public var target: ThreadIdentity?
    /// What was said, or what there is to know of the stage besides.
    public var message: String?

    public init(
        sequence: Int, monotonicNanoseconds: UInt64, wallNanoseconds: Int64, process: ProcessIdentity,
        thread: ThreadIdentity, stage: DeliveryStage, notification: String? = nil, post: Int? = nil,
        observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil
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
    }
}
