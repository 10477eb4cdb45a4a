internal import DeliveryRecording
internal import ThreadedNotifications

/// One of the two compared recordings, with the data that the comparison derives from it once.
struct ComparedRun {
    let recording: Recording
    let chains: CausalChains
    let texts: ComparedTexts.Table
    /// For each thread: a number for its name. Main has a number of its own, and all threads without a name share one.
    /// Only threads with equal keys can match.
    let threadKeys: [Int32]
    /// The number of threads with compared records.
    let threadCount: Int
    /// Threads by the numbers in messages. A text log has no thread numbers.
    private let threadOfNumber: [Recording.Numbered: Int32]
    private let threadOfKernelID: [Recording.Numbered: Int32]

    init(_ recording: Recording, order: CausalComparison.Order, texts: inout ComparedTexts) {
        self.recording = recording
        chains = CausalChains(recording, order: order)
        self.texts = texts.table(of: recording)
        var (keys, numbers, kernelIDs): ([Int32], [Recording.Numbered: Int32], [Recording.Numbered: Int32]) =
            ([], [:], [:])
        for (index, thread) in recording.threads.enumerated() {
            let identity = thread.identity
            keys.append(
                !order.namesThreads ? -1 : identity.number == 1 ? -2 : identity.name.map { texts.number($0) } ?? -1)
            guard chains.isActive[index] else { continue }
            if order.namesThreads {
                numbers[Recording.Numbered(process: thread.process, number: identity.number)] = Int32(index)
            }
            kernelIDs[Recording.Numbered(process: thread.process, number: Int(identity.kernelID))] = Int32(index)
        }
        var threads: Set<Int32> = []
        for (index, entry) in recording.entries.enumerated() where chains.chainOfEntry[index] >= 0 {
            threads.insert(entry.thread)
        }
        threadCount = threads.count
        (threadKeys, threadOfNumber, threadOfKernelID) = (keys, numbers, kernelIDs)
    }

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
        let key = Recording.Numbered(process: Int32(recording.process(of: entry)), number: mention.number)
        return (mention.isKernelID ? threadOfKernelID[key] : threadOfNumber[key]) ?? -1
    }
}
