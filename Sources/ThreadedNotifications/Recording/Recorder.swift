package import CRecorderInterface
internal import Synchronization

/// The recorder of this process: the one that `notify-demo record` preloads, or the one that the library
/// DeliveryRecording starts.
package enum Recorder {
    package typealias Table = UnsafePointer<notification_recorder>

    /// The bits of the table's address, or 0. A table is never deallocated.
    private static let table = Atomic<UInt>(0)
    private static let preloaded = UInt(bitPattern: NotificationRecorderFind())

    /// The recorder that gets the events, or nil.
    static var current: Table? { Table(bitPattern: table.load(ordering: .acquiring)) }

    /// Connects the recorder that was preloaded, or else `other`. Later calls return the first one that was connected.
    @discardableResult
    package static func connect(_ other: Table? = nil) -> Table? {
        if let current { return current }
        guard let found = Table(bitPattern: preloaded) ?? other else { return nil }
        let (isFirst, _) = table.compareExchange(
            expected: 0, desired: UInt(bitPattern: found), ordering: .acquiringAndReleasing)
        if isFirst { found.pointee.watch { DeliveryEvent.setWatched(.byRecording, $0) } }
        return current
    }

    // MARK: Numbers

    /// The next number of a series that a preloaded recorder counts, because it also numbers what Foundation does;
    /// otherwise nil.
    static func next(_ series: (notification_recorder) -> (@convention(c) () -> UInt64)?) -> UInt64? {
        guard let preloaded = Table(bitPattern: preloaded) else { return nil }
        return series(preloaded.pointee)?()
    }

    // MARK: What Foundation's center would record again

    /// Calls `body`, which posts a notification to a Foundation center that was already recorded as this post.
    static func posting(_ post: UInt64, _ body: () -> Void) {
        current?.pointee.begin_queued_post?(post)
        body()
        current?.pointee.end_queued_post?()
    }

    /// Calls `body`, which adds or removes an observer of this package at a Foundation center.
    static func observingForCapture<Result>(_ body: () -> Result) -> Result {
        let recorder = connect()
        recorder?.pointee.begin_own_observer?()
        defer { recorder?.pointee.end_own_observer?() }
        return body()
    }

    /// The post to a Foundation center whose handler the calling thread runs; 0 if it was not recorded.
    static var currentPost: UInt64 { current?.pointee.current_post?() ?? 0 }

    // MARK: Records

    /// Appends a record. The values are separate parameters, because composing an event of them costs more than the
    /// record.
    static func append(
        to recorder: Table, _ stage: DeliveryEvent.Stage, name: String?, post: UInt64, observer: UInt64,
        target: ThreadIdentity?, overtakes: Bool, style: String?, location: SourceLocation?, count: Int?,
        sender: DeliveryEvent.Sender?, relatedPost: UInt64, message: String?, policy: OverflowPolicy?,
        reason: DeliveryEvent.Reason?
    ) {
        let context = ThreadContext.current
        let thread = ThreadIdentity.current
        var texts = RecorderTexts(
            context.scratch(
                atLeast: RecorderTexts.length(name, message, location?.file, sender?.type, thread.name, target?.name)))
        var record = recorder_record()
        record.stage = texts.text(stage.rawValue)
        record.thread = texts.thread(thread)
        if let target { record.target = texts.thread(target) }
        record.name = texts.text(name)
        record.post = post
        record.observer = observer
        record.message = texts.text(message)
        record.file = texts.text(location?.file)
        record.line = UInt64(max(0, location?.line ?? 0))
        if let count = count ?? policy?.capacity { (record.has_count, record.count) = (true, UInt64(max(0, count))) }
        if let sender {
            (record.has_sender, record.sender) = (true, sender.identifier)
            record.type = texts.text(sender.type)
        }
        record.by = relatedPost
        record.overtakes = overtakes
        record.style = texts.text(style)
        record.policy = texts.text(policy?.kind)
        record.reason = texts.text(reason?.rawValue)
        recorder.pointee.append(&record)
    }
}
