internal import ThreadedNotifications

/// One of the two recordings that are compared, with what is worked out of it beforehand.
struct ComparedRun {
    let recording: Recording
    let chains: CausalChains
    let texts: ComparedTexts.Table
    /// Which threads may be the same by their names: a number for each name, one for main, one for all without a name.
    let threadKeys: [Int32]
    /// How many threads there are of which anything is compared.
    let threadCount: Int
    /// Threads by what messages say of them. A text log tells no thread's number.
    private let threadOfNumber: [Recording.Numbered: Int32]
    private let threadOfKernelID: [Recording.Numbered: Int32]

    init(_ recording: Recording, order: CausalComparison.Order, texts: inout ComparedTexts) {
        self.recording = recording
        chains = CausalChains(recording, order: order)
        self.texts = texts.table(of: recording)
        var (keys, numbers, kernelIDs): ([Int32], [Recording.Numbered: Int32], [Recording.Numbered: Int32]) =
            ([], [:], [:])
        for (place, thread) in recording.threads.enumerated() {
            let identity = thread.identity
            keys.append(
                !order.namesThreads ? -1 : identity.number == 1 ? -2 : identity.name.map { texts.number($0) } ?? -1)
            guard chains.isActive[place] else { continue }
            if order.namesThreads {
                numbers[Recording.Numbered(process: thread.process, number: identity.number)] = Int32(place)
            }
            kernelIDs[Recording.Numbered(process: thread.process, number: Int(identity.kernelID))] = Int32(place)
        }
        var threads: Set<Int32> = []
        for (place, entry) in recording.entries.enumerated() where chains.chainOfEntry[place] >= 0 {
            threads.insert(entry.thread)
        }
        threadCount = threads.count
        (threadKeys, threadOfNumber, threadOfKernelID) = (keys, numbers, kernelIDs)
    }

    /// The threads that a record's message speaks of.
    func mentions(of entry: Recording.Entry) -> ArraySlice<ThreadDescription> {
        guard entry.message >= 0 else { return [] }
        let range = texts.forms[Int(entry.message)].mentions
        return texts.mentions[Int(range.lowerBound)..<Int(range.upperBound)]
    }

    /// Nil where the notification has none, and else the same number in both runs for the same name.
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

    /// The thread that a message speaks of, if anything that is compared is of it; or -1.
    func thread(of mention: ThreadDescription, in entry: Recording.Entry) -> Int32 {
        let key = Recording.Numbered(process: Int32(recording.process(of: entry)), number: mention.number)
        return (mention.isKernelID ? threadOfKernelID[key] : threadOfNumber[key]) ?? -1
    }
}
