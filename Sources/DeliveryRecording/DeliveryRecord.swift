public import ThreadedNotifications

/// One stored stage of one delivery. Scenarios and programs make records; whatever is shown, checked or compared is a function
/// of records. What a stage does not have is nil.
public struct DeliveryRecord: Sendable, Hashable {
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
    /// The notification's name.
    public var notification: String?
    /// Which post of the process this is a stage of; posts are numbered by whoever posts.
    public var post: Int?
    /// Which observer of the process this is a stage of, where observers are told apart.
    public var observer: Int?
    /// The thread that should handle it, where the stage knows it.
    public var target: ThreadIdentity?
    /// What was said, or what there is to know of the stage besides.
    public var message: String?
    /// Where in the source: of a post, its call; of an observer, its registration; of a wait, the call that waits.
    public var place: SourceLocation?
    /// Of `post` and `capture`: how many observers match. Of `remove`: how many of its handlers run. Of `lost`: how many.
    public var count: Int?
    /// Whose notification it is, or whose the observer asks for.
    public var sender: Sender?
    /// Another post of the process. Of `capture`: the posting queue's that it is a part of. Of `coalesce`: the one that stands
    /// for it.
    public var relatedPost: Int?

    /// A notification's object, as far as it is recorded.
    public typealias Sender = DeliveryEvent.Sender

    public init(
        sequence: Int, monotonicNanoseconds: UInt64, wallNanoseconds: Int64, process: ProcessIdentity,
        thread: ThreadIdentity, stage: DeliveryStage, notification: String? = nil, post: Int? = nil,
        observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil, place: SourceLocation? = nil,
        count: Int? = nil, sender: Sender? = nil, relatedPost: Int? = nil
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
        self.place = place
        self.count = count
        self.sender = sender
        self.relatedPost = relatedPost
    }
}
