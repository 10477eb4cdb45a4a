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
    /// What tells chains apart.
    struct Key: Hashable {
        /// The chain that handed it over, or -1.
        var parent: Int32
        var thread: Int32
        /// As `RecordCause.observer`, and of a delivery to a pool.
        var observer: Int32 = -1
        /// Of a delivery to a pool. The deliveries to a pool may be handled at the same time.
        var post: Int32 = -1
        /// Of what a thread of a pool does on its own: the same number in both runs. Others may do it at the same time.
        var work: UInt64 = 0
    }

    private(set) var keys: [Key] = []
    /// For each chain: the records to compare, in order.
    private(set) var entries: [[Int32]] = []
    /// For each entry: its chain; -1 if it was left out.
    private(set) var chainOfEntry: [Int32]
    /// For each entry: its position in the entries of its chain; -1 if it is not compared.
    private(set) var positionOfEntry: [Int32]
    /// The threads with records in chains, in the order of their first ones.
    private(set) var activeThreads: [Int32] = []
    private var active: Set<Int32> = []
    private var known: [Key: Int32] = [:]

    /// - Parameters:
    ///   - isExact: whether all records are one chain, in the order of the file.
    ///   - lanes: for each thread, the thread that stands for it; nil for itself.
    ///   - work: a number for what an entry does, the same in both runs.
    ///   - includes: returns whether the entry at an index belongs to a chain. If it does not, nothing that it caused
    ///     does.
    ///   - compares: returns whether to compare an entry that belongs to a chain.
    init(
        _ index: RecordingIndex, isExact: Bool = false, lanes: [Int32]? = nil,
        work: (Recording.Entry) -> UInt64 = { _ in 0 }, includes: (Int) -> Bool = { _ in true },
        compares: (Recording.Entry) -> Bool = { _ in true }
    ) {
        let recording = index.recording
        chainOfEntry = Array(repeating: -1, count: recording.entries.count)
        positionOfEntry = chainOfEntry
        var repetitions: [UInt64: UInt64] = [:]
        for (number, entry) in recording.entries.enumerated() where includes(number) {
            let thread = lanes?[Int(entry.thread)] ?? entry.thread
            var key = Key(parent: -1, thread: isExact ? 0 : thread)
            if !isExact {
                guard let cause = index.cause(of: number) else { continue }
                let parent = cause.entry < 0 ? -1 : chainOfEntry[Int(cause.entry)]
                if cause.entry >= 0, parent < 0 { continue }
                (key.parent, key.observer) = (parent, cause.observer)
                if cause.isInSameChain {
                    key = keys[Int(parent)]
                } else if recording.threads[Int(entry.thread)].isInPool {
                    if parent >= 0 {
                        (key.observer, key.post) = (entry.observer, entry.post)
                    } else {
                        let work = work(entry)
                        repetitions[work, default: 0] += 1
                        key.work = ThreadColours.mix(work, repetitions[work, default: 0])
                    }
                }
            }
            let chain = known[key] ?? Int32(keys.count)
            if chain == keys.count {
                known[key] = chain
                keys.append(key)
                entries.append([])
            }
            chainOfEntry[number] = chain
            if active.insert(thread).inserted { activeThreads.append(thread) }
            guard compares(entry) else { continue }
            positionOfEntry[number] = Int32(entries[Int(chain)].count)
            entries[Int(chain)].append(Int32(number))
        }
    }

    /// The entry at a position of a chain, or -1.
    func entry(of chain: Int32, at position: Int32) -> Int {
        guard chain >= 0, position < entries[Int(chain)].count else { return -1 }
        return Int(entries[Int(chain)][Int(position)])
    }

    func isActive(_ thread: Int32) -> Bool { active.contains(thread) }

    /// -1 if there is none.
    func chain(_ key: Key) -> Int32 { known[key] ?? -1 }
}
