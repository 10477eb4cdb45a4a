internal import DeliveryRecording
internal import ThreadedNotifications

/// One of the two compared runs, with the data that the comparison derives from it once.
struct ComparedRun {
    let index: RecordingIndex
    var recording: Recording { index.recording }
    /// For each thread: a number for its name. Main has a number of its own, and all threads without a name share one.
    /// Only threads with equal keys can match.
    let threadKeys: [Int32]
    /// For each process: why records of it are missing, if they are.
    let truncations: [Recording.Truncation?]
    /// True if records of any process are missing, or all.
    let isTruncated: Bool
    private(set) var chains: CausalChains
    /// For each string.
    private let texts: [ComparedTexts.Form]
    /// For each thread: the thread that stands for it. One of a pool of Dispatch stands for all of its process.
    private let lanes: [Int32]
    private let isExact: Bool
    private let selection: RecordingSelection??
    private var isRemoved: [Bool]
    /// Threads by the numbers in messages: their own, and those of the kernel.
    private var threadOfNumber: [Recording.Numbered: Int32] = [:]
    private var threadOfKernelID: [Recording.Numbered: Int32] = [:]

    /// - Parameter selection: what to compare; nil for everything.
    init(
        _ recording: Recording, _ options: RunComparison.Options, _ selection: RecordingSelection??,
        _ texts: inout ComparedTexts
    ) {
        (isExact, self.selection) = (options.isExact, selection)
        isTruncated = recording.incompleteness != nil
        truncations = recording.completeness.map { if case .truncated(let reason) = $0 { reason } else { nil } }
        self.texts = recording.strings.map { texts.form(of: $0) }
        threadKeys = recording.threads.map { thread in
            if thread.isInPool { return -3 }
            return thread.identity.number == 1 ? -2 : thread.identity.name.map { texts.number($0) } ?? -1
        }
        lanes = recording.threads.enumerated().map { number, thread in
            guard thread.isInPool else { return Int32(number) }
            return Int32(recording.threads.firstIndex { $0.isInPool && $0.process == thread.process } ?? number)
        }
        for (number, thread) in recording.threads.enumerated() {
            func key(_ number: Int) -> Recording.Numbered { .init(process: thread.process, number: number) }
            threadOfNumber[key(thread.identity.number)] = Int32(number)
            threadOfKernelID[key(Int(thread.identity.kernelID))] = Int32(number)
        }
        index = RecordingIndex(recording)
        let ignored = Set(options.ignored.compactMap(recording.name(called:)))
        isRemoved = recording.entries.map { ignored.contains($0.name) }
        chains = CausalChains(index, includes: { _ in false })
        remove([])
    }

    /// Leaves out the records at these indices, and everything that they caused.
    mutating func remove(_ entries: [Int]) {
        for index in entries { isRemoved[index] = true }
        chains = CausalChains(
            index, isExact: isExact, lanes: lanes,
            work: { [self] entry in
                let stage = UInt64(DeliveryStage.allCases.firstIndex(of: entry.stage) ?? 0)
                return ThreadColours.mix(stage, indexPair(nameNumber(of: entry), messageNumber(of: entry)))
            }, includes: { [isRemoved] in !isRemoved[$0] },
            compares: { [selection] entry in selection.map { $0?.contains(entry) ?? false } ?? true })
    }

    /// The thread that stands for a thread; -1 for -1.
    func lane(_ thread: Int32) -> Int32 { thread < 0 ? -1 : lanes[Int(thread)] }

    func isCompared(_ index: Int32) -> Bool { index >= 0 && chains.positionOfEntry[Int(index)] >= 0 }

    /// The number of threads with compared records.
    var comparedThreadCount: Int {
        Set(recording.entries.indices.lazy.filter { isCompared(Int32($0)) }.map { lane(recording.entries[$0].thread) })
            .count
    }

    func process(ofThread thread: Int32) -> Int32 { recording.threads[Int(thread)].process }

    func isTruncated(_ process: Int32) -> Bool { isTruncated && truncations[Int(process)] != nil }

    /// The threads that a record's message mentions.
    func mentions(of entry: Recording.Entry) -> [ThreadDescription] {
        entry.message < 0 ? [] : texts[Int(entry.message)].threads
    }

    /// -1 if the record has no name; else a number that is the same in both runs for the same name.
    func nameNumber(of entry: Recording.Entry) -> Int32 { entry.name < 0 ? -1 : texts[Int(entry.name)].text }

    func messageNumber(of entry: Recording.Entry) -> Int32 {
        entry.message < 0 ? -1 : texts[Int(entry.message)].skeleton
    }

    func isMain(_ mention: ThreadDescription, in entry: Recording.Entry) -> Bool {
        mention.number == 1
            || (mention.isKernelID && mention.number == Int(recording.processes[recording.process(of: entry)].id))
    }

    /// The mentioned thread if any of its records are in chains; else -1.
    func thread(of mention: ThreadDescription, in entry: Recording.Entry) -> Int32 {
        let key = Recording.Numbered(process: process(ofThread: entry.thread), number: mention.number)
        let thread = lane((mention.isKernelID ? threadOfKernelID : threadOfNumber)[key] ?? -1)
        return thread >= 0 && chains.isActive(thread) ? thread : -1
    }
}
