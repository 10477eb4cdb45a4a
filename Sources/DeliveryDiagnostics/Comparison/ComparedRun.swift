internal import DeliveryRecording
internal import ThreadedNotifications

/// One of the two compared runs, with the data that the comparison derives from it once.
struct ComparedRun {
    let index: RecordingIndex
    var recording: Recording { index.recording }
    /// The text log that was read; nil for a recording.
    let log: TextLog?
    let texts: ComparedTexts.Table
    /// For each thread: a number for its name. Main has a number of its own, and all threads without a name share one.
    /// Only threads with equal keys can match.
    let threadKeys: [Int32]
    /// For each process: why records of it are missing, if they are. Empty for a text log.
    let truncations: [Recording.Truncation?]
    /// True if the recording has no end record, but the other has one. Then processes may be missing.
    let lacksEnd: Bool
    private(set) var chains: CausalChains
    private let order: ComparisonOrder
    private let compares: (Recording.Entry) -> Bool
    private var isRemoved: [Bool]
    private let threadOfNumber: [MentionedNumber: Int32]

    /// The number of a thread in a message.
    private struct MentionedNumber: Hashable {
        var process: Int32
        var number: Int
        var isKernelID: Bool
    }

    /// - Parameters:
    ///   - ignored: names of notifications to leave out, with everything that they cause.
    ///   - compares: whether an entry is to be compared.
    init(
        _ recording: Recording, log: TextLog?, order: ComparisonOrder, ignored: Set<String>,
        compares: @escaping (Recording.Entry) -> Bool, truncations: [Recording.Truncation?], lacksEnd: Bool,
        texts: inout ComparedTexts
    ) {
        (self.log, self.order, self.truncations, self.lacksEnd) = (log, order, truncations, lacksEnd)
        self.texts = texts.table(of: recording)
        self.compares = compares
        threadKeys = recording.threads.map { thread in
            // A text log has no thread names.
            if order.isLogged { return -1 }
            return thread.identity.number == 1 ? -2 : thread.identity.name.map { texts.number($0) } ?? -1
        }
        index = RecordingIndex(recording)
        let names = recording.strings.map { ignored.contains($0) }
        isRemoved = recording.entries.map { !ignored.isEmpty && $0.name >= 0 && names[Int($0.name)] }
        chains = CausalChains(index, order, includes: { [isRemoved] in !isRemoved[$0] }, compares: compares)
        var threadOfNumber: [MentionedNumber: Int32] = [:]
        for (number, thread) in recording.threads.enumerated() {
            func key(_ number: Int, isKernelID: Bool) -> MentionedNumber {
                MentionedNumber(process: thread.process, number: number, isKernelID: isKernelID)
            }
            // A text log has no thread numbers.
            if !order.isLogged { threadOfNumber[key(thread.identity.number, isKernelID: false)] = Int32(number) }
            threadOfNumber[key(Int(thread.identity.kernelID), isKernelID: true)] = Int32(number)
        }
        self.threadOfNumber = threadOfNumber
    }

    /// Leaves out the records at these indices, and what they caused.
    mutating func remove(_ entries: [Int]) {
        for index in entries { isRemoved[index] = true }
        chains = CausalChains(index, order, includes: { [isRemoved] in !isRemoved[$0] }, compares: compares)
    }

    func isCompared(_ index: Int32) -> Bool { index >= 0 && chains.positionOfEntry[Int(index)] >= 0 }

    /// The `count` records.
    var counterRecords: [Int] { recording.entries.indices.filter { recording.entries[$0].stage == .count } }

    /// The number of threads with compared records.
    var comparedThreadCount: Int {
        Set(recording.entries.indices.lazy.filter { isCompared(Int32($0)) }.map { recording.entries[$0].thread }).count
    }

    func process(ofThread thread: Int32) -> Int32 { recording.threads[Int(thread)].process }

    func isTruncated(processOf thread: Int32) -> Bool { isTruncated(process(ofThread: thread)) }

    func isTruncated(_ process: Int32) -> Bool { !truncations.isEmpty && truncations[Int(process)] != nil }

    /// True if any process is truncated, or if later processes may be missing.
    var isTruncated: Bool { lacksEnd || truncations.contains { $0 != nil } }

    /// The threads that a record's message mentions.
    func mentions(of entry: Recording.Entry) -> ArraySlice<ThreadDescription> {
        guard entry.message >= 0 else { return [] }
        let range = texts.forms[Int(entry.message)].mentions
        return texts.mentions[Int(range.lowerBound)..<Int(range.upperBound)]
    }

    /// -1 if the record has no name; else a number that is the same in both runs for the same name.
    func nameNumber(of entry: Recording.Entry) -> Int32 {
        entry.name < 0 ? -1 : texts.forms[Int(entry.name)].text
    }

    func messageNumber(of entry: Recording.Entry) -> Int32 {
        entry.message < 0 ? -1 : texts.forms[Int(entry.message)].skeleton
    }

    func isMain(_ mention: ThreadDescription, in entry: Recording.Entry) -> Bool {
        mention.number == 1
            || (mention.isKernelID && mention.number == Int(recording.processes[recording.process(of: entry)].id))
    }

    /// The mentioned thread if any of its records are in chains; else -1.
    func thread(of mention: ThreadDescription, in entry: Recording.Entry) -> Int32 {
        let key = MentionedNumber(
            process: process(ofThread: entry.thread), number: mention.number, isKernelID: mention.isKernelID)
        guard let thread = threadOfNumber[key], chains.isActive[Int(thread)] else { return -1 }
        return thread
    }
}
