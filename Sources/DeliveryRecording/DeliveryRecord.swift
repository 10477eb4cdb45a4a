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
    public var stage: DeliveryStage
    /// The name of the notification.
    public var notification: String?
    /// The number of the post in its process.
    public var post: Int?
    /// The number of the observer in its process.
    public var observer: Int?
    /// The thread that should handle the notification.
    public var target: ThreadIdentity?
    /// Output of the program, or further details of the stage.
    public var message: String?
    /// The source location of the call that posts, adds the observer or waits.
    public var place: SourceLocation?
    /// Of `post` and `capture`: the number of matching observers. Of `remove`: the number of its handlers that run. Of
    /// `lost`: the number of lost records.
    public var count: Int?
    /// The object of the notification, or the object that the observer asks for.
    public var sender: Sender?
    /// Another post of the process. Of `capture`: the post of the posting queue. Of `coalesce`: the post that replaces
    /// this one.
    public var relatedPost: Int?

    /// The object of a notification: its identifier and type.
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
