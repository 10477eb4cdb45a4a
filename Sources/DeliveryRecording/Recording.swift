public import ThreadedNotifications

/// A recording in memory: an entry for each record, and tables of the names, threads, posts and observers that entries
/// refer to.
///
/// Everything that is shown of a run is a function of it. Entries are in the order in which they were recorded; those
/// of several processes are in the order of their times.
///
/// Cost: 72 bytes per record, and each name, message, location, thread, post and observer once.
public struct Recording: Sendable {
    /// The versions of the schema that this reader reads.
    static let versions: ClosedRange<UInt64> = 2...3

    /// One record. `Int32` values are indices in the tables, or -1 if the stage has no such value.
    public struct Entry: Sendable, Hashable {
        /// The time of the monotonic clock, in nanoseconds.
        public var time: UInt64
        /// An index in `threads`.
        public var thread: Int32
        /// An index in `threads`.
        public var target: Int32 = -1
        /// The name of the notification: an index in `strings`.
        public var name: Int32 = -1
        /// An index in `posts`.
        public var post: Int32 = -1
        /// An index in `observers`.
        public var observer: Int32 = -1
        /// An index in `strings`.
        public var message: Int32 = -1
        /// The source location: an index in `locations`.
        public var location: Int32 = -1
        /// An index in `senders`.
        public var sender: Int32 = -1
        /// An index in `posts`.
        public var relatedPost: Int32 = -1
        /// The number that `DeliveryRecord.count` describes, or -1.
        public var count: Int32 = -1
        /// The line of the file, from 1, or the sequence number of a record that was not read from a file.
        public var line: Int32 = 0
        /// An index in `counters`.
        public var counters: Int32 = -1
        /// An index in `foundationDetails`.
        public var foundation: Int32 = -1
        public var stage: DeliveryStage
        /// See `DeliveryRecord` for these.
        public var isThreadKnown = true
        public var overtakes = false
        public var style: DeliveryRecord.Style?
        public var policy: DeliveryRecord.Policy?
        public var reason: DeliveryRecord.Reason?

        package init(time: UInt64, stage: DeliveryStage, thread: Int32) {
            self.time = time
            self.stage = stage
            self.thread = thread
        }
    }

    /// A thread of a process.
    public struct Thread: Sendable, Hashable {
        /// An index in `processes`.
        public var process: Int32
        public var identity: ThreadIdentity
        /// True if it belongs to a pool of Dispatch; false if it does not, or if that is not known.
        public var isInPool = false

        package init(process: Int32, identity: ThreadIdentity) {
            self.process = process
            self.identity = identity
        }
    }

    /// A post or an observer of a process.
    public struct Numbered: Sendable, Hashable {
        /// An index in `processes`.
        public var process: Int32
        public var number: Int

        package init(process: Int32, number: Int) {
            self.process = process
            self.number = number
        }
    }

    /// Why something of a process was not recorded.
    public struct Unrecorded: Sendable, Hashable {
        /// An index in `processes`.
        public var process: Int32
        public var reason: String

        package init(process: Int32, reason: String) {
            self.process = process
            self.reason = reason
        }
    }

    /// Whether a recording has all records of a process.
    public enum Completeness: Sendable, Hashable {
        /// All records are there, and the last one says how the process ended.
        case complete
        /// All records are there, and none says how the process ended: it was killed, or ended in another way that it
        /// could not record.
        case endedWithoutNotice
        case truncated(Truncation)

        /// True if no record is missing.
        public var isComplete: Bool { self == .complete || self == .endedWithoutNotice }
    }

    /// Why records of a process are missing. If several reasons apply, the first of these.
    public enum Truncation: Sendable, Hashable {
        /// The file ends within a line.
        case line
        /// This many records were lost while recording.
        case lost(Int)
        /// This many sequence numbers are missing from the file.
        case missing(Int)
        /// Other lines of the file cannot be used.
        case damaged
        /// The process has no `end` record, in version 2: it was killed, or the file was truncated after a line.
        case noEnd
    }

    /// The name of the recording in errors and reports, such as the path of its file.
    public package(set) var source: String
    public package(set) var entries: [Entry] = []
    public package(set) var processes: [ProcessIdentity] = []
    public package(set) var threads: [Thread] = []
    public package(set) var posts: [Numbered] = []
    public package(set) var observers: [Numbered] = []
    public package(set) var strings: [String] = []
    public package(set) var locations: [SourceLocation] = []
    public package(set) var senders: [DeliveryRecord.Sender] = []
    public package(set) var counters: [DeliveryCounters] = []
    public package(set) var foundationDetails: [DeliveryRecord.FoundationDetails] = []
    /// What could not be recorded in a process.
    public package(set) var unrecorded: [Unrecorded] = []
    /// The first hundred problems of the file, in the order of its lines.
    public package(set) var problems: [RecordingProblem] = []
    /// The number of all problems.
    public package(set) var problemCount = 0
    /// For each process, whether all its records are there.
    public package(set) var completeness: [Completeness] = []
    /// For each process, the difference of its wall clock and its monotonic clock, in nanoseconds.
    package var wallOffsets: [Int64] = []

    /// - Parameter source: the name of the recording in errors and reports.
    public init(_ records: [DeliveryRecord], source: String = "the run") {
        var builder = RecordingBuilder(source: source)
        for record in records { builder.append(record) }
        self = builder.finish()
    }

    package init(source: String) {
        self.source = source
    }
}

extension Recording {
    /// The name of the notification.
    public func name(of entry: Entry) -> String? { entry.name < 0 ? nil : strings[Int(entry.name)] }

    public func message(of entry: Entry) -> String? { entry.message < 0 ? nil : strings[Int(entry.message)] }

    public func location(of entry: Entry) -> SourceLocation? {
        entry.location < 0 ? nil : locations[Int(entry.location)]
    }

    public func sender(of entry: Entry) -> DeliveryRecord.Sender? {
        entry.sender < 0 ? nil : senders[Int(entry.sender)]
    }

    /// An index in `processes`.
    public func process(of entry: Entry) -> Int { Int(threads[Int(entry.thread)].process) }

    public func counters(of entry: Entry) -> DeliveryCounters? {
        entry.counters < 0 ? nil : counters[Int(entry.counters)]
    }

    /// True for the record that the end of a thread is told to its observers. It is a capture that no post caused.
    package func isThreadEnd(_ entry: Entry) -> Bool {
        entry.stage == .capture && entry.relatedPost < 0 && !entry.isFoundation
            && name(of: entry) == ThreadEnd.notificationName
    }

    /// True for a call that Foundation itself made to its center.
    public func isCalledByFoundation(_ entry: Entry) -> Bool {
        foundationDetails(of: entry)?.isCalledByFoundation ?? false
    }

    public func foundationDetails(of entry: Entry) -> DeliveryRecord.FoundationDetails? {
        entry.foundation < 0 ? nil : foundationDetails[Int(entry.foundation)]
    }

    /// The message and the typed details of the stage in words: see `DeliveryRecord.details`.
    public func details(of entry: Entry) -> String? {
        guard entry.hasTypedDetails else { return message(of: entry) }
        return record(entry, sequence: 0).details
    }

    /// A short description of a thread: `main`, `worker`, `thread 3`. Names the process if there are several.
    public func describeThread(_ thread: Int32) -> String {
        let thread = threads[Int(thread)]
        let name = thread.identity.name ?? "thread \(thread.identity.number)"
        return processes.count > 1 ? "\(name) of process \(processes[Int(thread.process)].id)" : name
    }

    /// A short description of a post: `#3`. Names the process if there are several.
    public func describePost(_ post: Int32) -> String { "#" + describe(posts[Int(post)]) }

    /// A short description of an observer: `observer 3`. Names the process if there are several.
    public func describeObserver(_ observer: Int32) -> String { "observer " + describe(observers[Int(observer)]) }

    private func describe(_ numbered: Numbered) -> String {
        processes.count > 1
            ? "\(numbered.number) of process \(processes[Int(numbered.process)].id)" : "\(numbered.number)"
    }

    /// The time since the first record, in nanoseconds.
    public func elapsed(_ entry: Entry) -> Int64 {
        Int64(bitPattern: entry.time &- (entries.first?.time ?? 0))
    }

    /// All records.
    public var records: [DeliveryRecord] { entries.indices.map { record($0) } }

    /// The record of the entry at an index.
    public func record(_ index: Int) -> DeliveryRecord { record(entries[index], sequence: index + 1) }

    private func record(_ entry: Entry, sequence: Int) -> DeliveryRecord {
        let process = process(of: entry)
        var record = DeliveryRecord(
            sequence: sequence, monotonicNanoseconds: entry.time,
            wallNanoseconds: Int64(bitPattern: entry.time) &+ wallOffsets[process], process: processes[process],
            thread: threads[Int(entry.thread)].identity, stage: entry.stage, notification: name(of: entry),
            post: entry.post < 0 ? nil : posts[Int(entry.post)].number,
            observer: entry.observer < 0 ? nil : observers[Int(entry.observer)].number,
            target: entry.target < 0 ? nil : threads[Int(entry.target)].identity, message: message(of: entry),
            location: self.location(of: entry), count: entry.count < 0 ? nil : Int(entry.count),
            sender: sender(of: entry),
            relatedPost: entry.relatedPost < 0 ? nil : posts[Int(entry.relatedPost)].number,
            overtakes: entry.overtakes, style: entry.style, policy: entry.policy, reason: entry.reason,
            counters: counters(of: entry), foundation: foundationDetails(of: entry))
        record.isThreadKnown = entry.isThreadKnown
        return record
    }
}

extension Recording.Entry {
    /// True for a record of Foundation's own center or notification queue.
    public var isFoundation: Bool { foundation >= 0 }

    /// True for a handler of an asynchronous message of Foundation. Its post is not known, and it may return on another
    /// thread.
    package var isAsyncHandlerOfFoundation: Bool { isFoundation && stage == .deliver && post < 0 }

    fileprivate var hasTypedDetails: Bool {
        overtakes || style != nil || policy != nil || reason != nil || counters >= 0
    }
}
