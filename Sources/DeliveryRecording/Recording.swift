public import ThreadedNotifications

/// A recording in memory: an entry for each record, and tables of the names, threads, posts and observers that entries
/// refer to.
///
/// Everything that is shown of a run is a function of it. Entries are in the order in which they were recorded; those
/// of several processes are in the order of their times.
///
/// Cost: 64 bytes per record, and each name, message, location, thread, post and observer once.
public struct Recording: Sendable {
    /// The versions of the schema that this reader reads.
    static let versions: ClosedRange<UInt64> = 2...3

    /// One record. `Int32` values are indices in the tables, or -1 if the stage has no such value.
    public struct Entry: Sendable, Hashable {
        /// The time of the monotonic clock, in nanoseconds.
        public var time: UInt64
        /// An index in `threads`.
        public var thread: Int32
        /// The thread that should handle the notification, or that is waited for: an index in `threads`.
        public var target: Int32 = -1
        /// The name of the notification: an index in `strings`.
        public var name: Int32 = -1
        /// An index in `posts`.
        public var post: Int32 = -1
        /// An index in `observers`.
        public var observer: Int32 = -1
        /// Output of the program. Of `wait`, what it waits for. Of `refuseWait`, the cycle. An index in `strings`.
        public var message: Int32 = -1
        /// The source location of the call that posts, adds the observer or waits: an index in `locations`. Of a call
        /// to Foundation whose location is unknown: the calling function or address, with line 0.
        public var location: Int32 = -1
        /// The object of the notification, or the object that the observer asks for: an index in `senders`.
        public var sender: Int32 = -1
        /// Of `capture`: the post of the posting queue. Of `coalesce`: the post that replaces this one. An index in
        /// `posts`.
        public var relatedPost: Int32 = -1
        /// Of `post` and `capture`: the number of matching observers. Of `remove`: the number of its handlers that run.
        /// Of `lost`: the number of lost records. Of `drop`: the capacity of the policy. Of `processEnd`: the exit
        /// status. Of `postEnd`, and of the `post` that it ends: the number of handlers that the post called. -1 if the
        /// stage has none.
        public var count: Int32 = -1
        /// The line of the file, from 1.
        public var line: Int32 = 0
        /// An index in `foundationDetails`, for a call to Foundation's own center or notification queue.
        public var foundation: Int32 = -1
        public var stage: DeliveryStage
        /// False for a record of the process as a whole that has no thread, such as an `end`. `thread` is then the main
        /// thread.
        public var isThreadKnown = true
        /// Of `deliver`: true if it overtakes others that wait, because of `SameThreadPolicy.atOnce`.
        public var overtakes = false
        /// Of `enqueue`: the posting style.
        public var style: Style?
        /// Of `drop`: the overflow policy of the observer.
        public var policy: Policy?
        /// Of `end` and `processEnd`: how the process or its recording ended. Of `targetGone`: why the target thread
        /// accepts nothing; nil if it has ended or was told to stop. Of `waitEnd`: `timedOut`, or nil. Of `remove`:
        /// what removed the observer, or `alreadyRemoved`; nil if that is not known.
        public var reason: Reason?

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
    }

    /// A post or an observer of a process.
    public struct Numbered: Sendable, Hashable {
        /// An index in `processes`.
        public var process: Int32
        public var number: Int

        package init(process: Int32, number: Int) { (self.process, self.number) = (process, number) }
    }

    /// Why something of a process was not recorded.
    public struct Unrecorded: Sendable, Hashable {
        /// An index in `processes`.
        public var process: Int32
        public var reason: String
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
    public package(set) var senders: [Sender] = []
    public package(set) var foundationDetails: [FoundationDetails] = []
    /// What could not be recorded in a process.
    public package(set) var unrecorded: [Unrecorded] = []
    /// The first hundred problems of the file, in the order of its lines.
    public package(set) var problems: [LogError] = []
    /// The number of all problems.
    public package(set) var problemCount = 0
    /// For each process, whether all its records are there.
    public package(set) var completeness: [Completeness] = []
    /// For each process, the difference of its wall clock and its monotonic clock, in nanoseconds.
    package var wallOffsets: [Int64] = []
    /// Of a post to other processes, at its poster and at each receiver, its identity. By an index in `posts`, an index
    /// in `strings`.
    package var origins: [Int32: Int32] = [:]

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

    public func sender(of entry: Entry) -> Sender? {
        entry.sender < 0 ? nil : senders[Int(entry.sender)]
    }

    /// An index in `processes`.
    public func process(of entry: Entry) -> Int { Int(threads[Int(entry.thread)].process) }

    /// True for the record that the end of a thread is told to its observers. It is a capture that no post caused.
    package func isThreadEnd(_ entry: Entry) -> Bool {
        entry.stage == .capture && entry.relatedPost < 0 && !entry.isFoundation
            && name(of: entry) == ThreadEnd.notificationName
    }

    /// True for a call that Foundation itself made to its center.
    public func isCalledByFoundation(_ entry: Entry) -> Bool {
        foundationDetails(of: entry)?.isCalledByFoundation ?? false
    }

    public func foundationDetails(of entry: Entry) -> FoundationDetails? {
        entry.foundation < 0 ? nil : foundationDetails[Int(entry.foundation)]
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

    /// The wall clock, in nanoseconds since 1970 in UTC.
    package func wallTime(of entry: Entry) -> Int64 {
        Int64(bitPattern: entry.time) &+ wallOffsets[process(of: entry)]
    }
}

extension Recording.Entry {
    /// True for a record of Foundation's own center or notification queue.
    public var isFoundation: Bool { foundation >= 0 }

    /// True for a handler of an asynchronous message of Foundation. Its post is not known, and it may return on another
    /// thread.
    package var isAsyncHandlerOfFoundation: Bool { isFoundation && stage == .deliver && post < 0 }
}
