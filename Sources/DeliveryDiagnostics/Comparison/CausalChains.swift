internal import DeliveryRecording

/// The happens-before order of a recording, as defined for event-driven programs. Every compared record belongs to one
/// chain, and the records of a chain are totally ordered.
///
///     root chain of a thread          what the thread does on its own, in program order
///     chain (c, thread) of a chain c  what the thread does because c handed it over, in the order in which it does it
///
/// A Foundation center calls its observers in random order, so the handlers of each of its observers are a chain. The
/// threads of a pool of Dispatch stand for one another, so a delivery to a pool is a chain.
///
/// A chain hands over the notifications and blocks of its `append` and `enqueue` records, and its posts that another
/// thread delivers. The thread handles those of one chain in order. Those of two chains interleave by chance.
struct CausalChains {
    /// What tells the chains apart that a chain hands to one thread, or the root chains of a thread.
    struct Own: Hashable {
        /// As `RecordCause.observer`, and of a delivery to a pool.
        var observer: Int32 = -1
        /// Of a delivery to a pool. The deliveries to a pool may be handled at the same time.
        var post: Int32 = -1
        /// Of what a thread of a pool does on its own: the same number in both runs. Others may do it at the same time.
        var work: UInt64 = 0
    }

    struct Chain {
        /// The chain that handed it over, or -1.
        let parent: Int32
        let thread: Int32
        let own: Own
        /// The records to compare, in order.
        fileprivate(set) var entries: [Int32] = []
    }

    private(set) var chains: [Chain] = []
    /// For each entry: its chain; -1 if it was left out.
    private(set) var chainOfEntry: [Int32]
    /// For each entry: its position in the entries of its chain; -1 if it is not compared.
    private(set) var positionOfEntry: [Int32]
    /// The threads with records in chains, in the order of their first ones.
    private(set) var activeThreads: [Int32] = []
    /// For each thread: whether it is one of `activeThreads`.
    private(set) var isActive: [Bool]
    /// By parent and thread.
    private var known: [UInt64: Int32] = [:]
    /// By parent and thread: the chains of their own.
    private var knownOwn: [UInt64: [Own: Int32]] = [:]

    /// - Parameters:
    ///   - lanes: for each thread, the thread that stands for it; nil for itself.
    ///   - work: a number for what an entry does, the same in both runs.
    ///   - includes: returns whether the entry at an index belongs to a chain. If it does not, nothing that it caused
    ///     does.
    ///   - compares: returns whether to compare an entry that belongs to a chain.
    init(
        _ index: RecordingIndex, isExact: Bool, lanes: [Int32]? = nil,
        work: (Recording.Entry) -> UInt64 = { _ in 0 }, includes: (Int) -> Bool, compares: (Recording.Entry) -> Bool
    ) {
        let recording = index.recording
        chainOfEntry = Array(repeating: -1, count: recording.entries.count)
        positionOfEntry = chainOfEntry
        isActive = Array(repeating: false, count: recording.threads.count)
        var repetitions: [UInt64: UInt64] = [:]
        for (number, entry) in recording.entries.enumerated() where includes(number) {
            let chain: Int32
            let thread = lanes?[Int(entry.thread)] ?? entry.thread
            if !isExact {
                guard let cause = index.cause(of: number) else { continue }
                let parent = cause.entry < 0 ? -1 : chainOfEntry[Int(cause.entry)]
                if cause.entry >= 0, parent < 0 { continue }
                var own = Own(observer: cause.observer)
                if !cause.isInSameChain, recording.threads[Int(entry.thread)].isInPool {
                    if parent >= 0 {
                        own = Own(observer: entry.observer, post: entry.post)
                    } else {
                        let work = work(entry)
                        repetitions[work, default: 0] += 1
                        own.work = RecordLabels.mix(work, repetitions[work, default: 0])
                    }
                }
                chain = cause.isInSameChain ? parent : self.chain(after: parent, on: thread, own)
            } else {
                // In the order of the file, all records are one chain.
                chain = self.chain(after: -1, on: recording.entries[0].thread)
            }
            chainOfEntry[number] = chain
            if !isActive[Int(thread)] { activeThreads.append(thread) }
            isActive[Int(thread)] = true
            guard compares(entry) else { continue }
            positionOfEntry[number] = Int32(chains[Int(chain)].entries.count)
            chains[Int(chain)].entries.append(Int32(number))
        }
    }

    /// The entry at a position of a chain, or -1.
    func entry(of chain: Int32, at position: Int32) -> Int {
        guard chain >= 0, position < chains[Int(chain)].entries.count else { return -1 }
        return Int(chains[Int(chain)].entries[Int(position)])
    }

    /// The chain that a chain handed to a thread, or the root chain of the thread if the chain is -1; -1 if there is
    /// none.
    func knownChain(after parent: Int32, on thread: Int32, _ own: Own) -> Int32 {
        own == Own()
            ? known[indexPair(parent, thread)] ?? -1 : knownOwn[indexPair(parent, thread)]?[own] ?? -1
    }

    private mutating func chain(after parent: Int32, on thread: Int32, _ own: Own = Own()) -> Int32 {
        let chain = knownChain(after: parent, on: thread, own)
        if chain >= 0 { return chain }
        let new = Int32(chains.count)
        if own == Own() {
            known[indexPair(parent, thread)] = new
        } else {
            knownOwn[indexPair(parent, thread), default: [:]][own] = new
        }
        chains.append(Chain(parent: parent, thread: thread, own: own))
        return new
    }
}
