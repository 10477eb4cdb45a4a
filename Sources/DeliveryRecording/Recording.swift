public import ThreadedNotifications

/// Records in memory, ready to be looked at many times: a small entry for each, and what they name in tables.
///
/// Everything that is said about a run is a function of it. Entries are in the order in which they were recorded; those of
/// several processes in the order of time.
/// Cost: 64 bytes a record, and each name, message, place, thread, post and observer once.
public struct Recording: Sendable {
    /// One record. Numbers other than its time are places in the tables, or -1 where the stage has none.
    public struct Entry: Sendable, Hashable {
        /// The monotonic clock, in nanoseconds.
        public var time: UInt64
        public var stage: DeliveryStage
        /// In `threads`.
        public var thread: Int32
        /// In `threads`.
        public var target: Int32 = -1
        /// The notification's name, in `strings`.
        public var name: Int32 = -1
        /// In `posts`.
        public var post: Int32 = -1
        /// In `observers`.
        public var observer: Int32 = -1
        /// In `strings`.
        public var message: Int32 = -1
        /// In `places`.
        public var place: Int32 = -1
        /// In `senders`.
        public var sender: Int32 = -1
        /// In `posts`.
        public var relatedPost: Int32 = -1
        /// See `DeliveryRecord.count`; -1 where the stage has none.
        public var count: Int32 = -1
        /// The line of the file, from 1; or the record's sequence, if it comes from none.
        public var line: Int32 = 0

        package init(time: UInt64, stage: DeliveryStage, thread: Int32) {
            self.time = time
            self.stage = stage
            self.thread = thread
        }
    }

    /// A thread of a process.
    public struct Thread: Sendable, Hashable {
        /// In `processes`.
        public var process: Int32
        public var identity: ThreadIdentity

        package init(process: Int32, identity: ThreadIdentity) {
            self.process = process
            self.identity = identity
        }
    }

    /// A post or an observer of a process.
    public struct Numbered: Sendable, Hashable {
        /// In `processes`.
        public var process: Int32
        public var number: Int

        package init(process: Int32, number: Int) {
            self.process = process
            self.number = number
        }
    }

    /// Where the records come from, in errors and reports: a file's path.
    public package(set) var source: String
    public package(set) var entries: [Entry] = []
    public package(set) var processes: [ProcessIdentity] = []
    public package(set) var threads: [Thread] = []
    public package(set) var posts: [Numbered] = []
    public package(set) var observers: [Numbered] = []
    public package(set) var strings: [String] = []
    public package(set) var places: [SourceLocation] = []
    public package(set) var senders: [DeliveryRecord.Sender] = []
    /// What is wrong with the file, in the order of its lines; the first hundred.
    public package(set) var problems: [RecordingProblem] = []
    /// How many problems there are.
    public package(set) var problemCount = 0
    /// Whether the file ends within a line.
    public package(set) var isTorn = false
    /// How many records were made and are not in the file, as their numbers tell.
    public package(set) var missingCount = 0
    /// The wall clock less the monotonic one, in nanoseconds, of each process.
    package var wallOffsets: [Int64] = []

    /// - Parameter source: what reports call the records.
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
    /// The notification's name.
    public func name(of entry: Entry) -> String? { entry.name < 0 ? nil : strings[Int(entry.name)] }

    public func message(of entry: Entry) -> String? { entry.message < 0 ? nil : strings[Int(entry.message)] }

    public func place(of entry: Entry) -> SourceLocation? { entry.place < 0 ? nil : places[Int(entry.place)] }

    public func sender(of entry: Entry) -> DeliveryRecord.Sender? {
        entry.sender < 0 ? nil : senders[Int(entry.sender)]
    }

    /// In `processes`.
    public func process(of entry: Entry) -> Int { Int(threads[Int(entry.thread)].process) }

    /// A thread as it is spoken of: `main`, `worker`, `thread 3`; with its process if there are several.
    public func describeThread(_ thread: Int32) -> String {
        let thread = threads[Int(thread)]
        let name = thread.identity.name ?? "thread \(thread.identity.number)"
        return processes.count > 1 ? "\(name) of process \(processes[Int(thread.process)].id)" : name
    }

    /// A post as it is spoken of: `#3`; with its process if there are several.
    public func describePost(_ post: Int32) -> String { "#" + describe(posts[Int(post)]) }

    /// An observer as it is spoken of: `observer 3`; with its process if there are several.
    public func describeObserver(_ observer: Int32) -> String { "observer " + describe(observers[Int(observer)]) }

    private func describe(_ numbered: Numbered) -> String {
        processes.count > 1
            ? "\(numbered.number) of process \(processes[Int(numbered.process)].id)" : "\(numbered.number)"
    }

    /// The time since the recording's first record, in nanoseconds.
    public func elapsed(_ entry: Entry) -> Int64 {
        Int64(bitPattern: entry.time &- (entries.first?.time ?? 0))
    }

    /// All records, as they were given or read.
    public var records: [DeliveryRecord] { entries.indices.map { record($0) } }

    /// The record as it was given or read.
    public func record(_ place: Int) -> DeliveryRecord {
        let entry = entries[place]
        let process = process(of: entry)
        return DeliveryRecord(
            sequence: place + 1, monotonicNanoseconds: entry.time,
            wallNanoseconds: Int64(bitPattern: entry.time) &+ wallOffsets[process], process: processes[process],
            thread: threads[Int(entry.thread)].identity, stage: entry.stage, notification: name(of: entry),
            post: entry.post < 0 ? nil : posts[Int(entry.post)].number,
            observer: entry.observer < 0 ? nil : observers[Int(entry.observer)].number,
            target: entry.target < 0 ? nil : threads[Int(entry.target)].identity, message: message(of: entry),
            place: self.place(of: entry), count: entry.count < 0 ? nil : Int(entry.count), sender: sender(of: entry),
            relatedPost: entry.relatedPost < 0 ? nil : posts[Int(entry.relatedPost)].number)
    }
}
