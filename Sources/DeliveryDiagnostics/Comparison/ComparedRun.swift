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
    /// The number of threads with compared records.
    private(set) var threadCount = 0
    private let order: ComparisonOrder
    private var isRemoved: [Bool]
    /// Threads by the numbers in messages. A text log has no thread numbers.
    private var threadOfNumber: [Recording.Numbered: Int32] = [:]
    private var threadOfKernelID: [Recording.Numbered: Int32] = [:]

    init(
        _ recording: Recording, log: TextLog?, order: ComparisonOrder, ignored: Set<String>,
        truncations: [Recording.Truncation?],
        lacksEnd: Bool, texts: inout ComparedTexts
    ) {
        (self.log, self.order, self.truncations, self.lacksEnd) = (log, order, truncations, lacksEnd)
        self.texts = texts.table(of: recording)
        threadKeys = recording.threads.map { thread in
            if !order.namesThreads { return -1 }
            return thread.identity.number == 1 ? -2 : thread.identity.name.map { texts.number($0) } ?? -1
        }
        index = RecordingIndex(recording)
        isRemoved = Array(repeating: false, count: recording.entries.count)
        chains = CausalChains(index, order) { _ in false }
        let names = Set(recording.strings.indices.filter { ignored.contains(recording.strings[$0]) })
        remove(
            names.isEmpty ? [] : recording.entries.indices.filter { names.contains(Int(recording.entries[$0].name)) })
    }

    /// Compares the records at these indices no longer, nor what they caused.
    mutating func remove(_ entries: some Sequence<Int>) {
        for index in entries { isRemoved[index] = true }
        chains = CausalChains(index, order) { [isRemoved] in !isRemoved[$0] }
        var isWriter = Array(repeating: false, count: recording.threads.count)
        for (index, entry) in recording.entries.enumerated() where chains.chainOfEntry[index] >= 0 {
            isWriter[Int(entry.thread)] = true
        }
        threadCount = isWriter.count { $0 }
        (threadOfNumber, threadOfKernelID) = ([:], [:])
        for (index, thread) in recording.threads.enumerated() where chains.isActive[index] {
            func key(_ number: Int) -> Recording.Numbered { .init(process: thread.process, number: number) }
            if order.namesThreads { threadOfNumber[key(thread.identity.number)] = Int32(index) }
            threadOfKernelID[key(Int(thread.identity.kernelID))] = Int32(index)
        }
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

    func senderType(of entry: Recording.Entry) -> String? { recording.sender(of: entry)?.type }

    func isMain(_ mention: ThreadDescription, in entry: Recording.Entry) -> Bool {
        mention.number == 1
            || (mention.isKernelID && mention.number == Int(recording.processes[recording.process(of: entry)].id))
    }

    /// The mentioned thread if any of its records are compared; else -1.
    func thread(of mention: ThreadDescription, in entry: Recording.Entry) -> Int32 {
        let key = Recording.Numbered(process: process(ofThread: entry.thread), number: mention.number)
        return (mention.isKernelID ? threadOfKernelID[key] : threadOfNumber[key]) ?? -1
    }
}
