internal import DeliveryRecording

/// The happens-before order of a recording, as defined for event-driven programs. Every compared record belongs to one
/// chain, and the records of a chain are totally ordered.
///
///     root chain of a thread          what the thread does on its own, in program order
///     chain (c, thread) of a chain c  what the thread does because c handed it over, in the order in which it does it
///
/// A chain hands over the notifications and blocks of its `append` and `enqueue` records, and its posts that another
/// thread delivers. The thread handles those of one chain in order. Those of two chains interleave by chance.
struct CausalChains {
    /// For each entry: its chain; -1 if the entry is not compared.
    private(set) var chainOfEntry: [Int32]
    /// For each entry: its position in its chain, from 0.
    private(set) var positionOfEntry: [Int32]
    /// For each chain: the chain that handed it over, or -1.
    private(set) var parent: [Int32] = []
    private(set) var thread: [Int32] = []
    /// For each chain: its number of entries.
    private(set) var count: [Int32] = []
    /// For each thread: whether any of its records are compared.
    private(set) var isActive: [Bool]
    /// The threads with compared records, in the order of their first ones.
    private(set) var activeThreads: [Int32] = []
    private var childOfChain: [UInt64: Int32] = [:]
    private var rootOfThread: [Int32]
    /// For each chain: where its entries begin in `ordered`.
    private var starts: [Int32] = []
    private var ordered: [Int32] = []

    /// - Parameter isCompared: whether to compare the entry at an index. An entry whose cause is not compared is not
    ///   compared either.
    init(_ index: RecordingIndex, _ order: ComparisonOrder, isCompared: (Int) -> Bool) {
        let recording = index.recording
        chainOfEntry = Array(repeating: -1, count: recording.entries.count)
        positionOfEntry = chainOfEntry
        rootOfThread = Array(repeating: -1, count: recording.threads.count)
        isActive = Array(repeating: false, count: recording.threads.count)
        let causes = RecordCauses(index)
        for (number, entry) in recording.entries.enumerated() where isCompared(number) {
            var chain: Int32 = -1
            switch order {
            case .causal:
                switch causes[number] {
                case .notCompared: break
                case .itself: chain = root(of: entry.thread)
                case .part(let cause): chain = chainOfEntry[Int(cause)]
                case .handedOver(let cause):
                    chain = chainOfEntry[Int(cause)]
                    if chain >= 0 { chain = child(of: chain, on: entry.thread) }
                }
            // The order of the file is one chain.
            case .exact: chain = root(of: recording.entries[0].thread)
            case .logged: if entry.stage == .log { chain = root(of: entry.thread) }
            case .loggedExactly: if entry.stage == .log { chain = root(of: recording.entries[0].thread) }
            }
            if chain >= 0 { append(number, to: chain) }
        }
        sortByChain()
    }

    /// The entry at a position of a chain, or -1.
    func entry(of chain: Int32, at position: Int32) -> Int {
        position < count[Int(chain)] ? Int(ordered[Int(starts[Int(chain)] + position)]) : -1
    }

    /// The root chain of a thread, or -1.
    func knownRoot(of thread: Int32) -> Int32 { rootOfThread[Int(thread)] }

    /// The chain that a chain handed to a thread, or -1.
    func knownChild(of chain: Int32, on thread: Int32) -> Int32 {
        childOfChain[Self.pair(chain, thread)] ?? -1
    }

    private static func pair(_ one: Int32, _ other: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: one)) << 32 | UInt64(UInt32(bitPattern: other))
    }

    private mutating func root(of thread: Int32) -> Int32 {
        if rootOfThread[Int(thread)] < 0 { rootOfThread[Int(thread)] = newChain(parent: -1, thread: thread) }
        return rootOfThread[Int(thread)]
    }

    private mutating func child(of chain: Int32, on thread: Int32) -> Int32 {
        let key = Self.pair(chain, thread)
        if let known = childOfChain[key] { return known }
        let child = newChain(parent: chain, thread: thread)
        childOfChain[key] = child
        return child
    }

    private mutating func newChain(parent: Int32, thread: Int32) -> Int32 {
        self.parent.append(parent)
        self.thread.append(thread)
        count.append(0)
        return Int32(count.count - 1)
    }

    private mutating func append(_ index: Int, to chain: Int32) {
        chainOfEntry[index] = chain
        positionOfEntry[index] = count[Int(chain)]
        count[Int(chain)] += 1
        let thread = thread[Int(chain)]
        if !isActive[Int(thread)] { activeThreads.append(thread) }
        isActive[Int(thread)] = true
    }

    private mutating func sortByChain() {
        starts.reserveCapacity(count.count)
        var start: Int32 = 0
        for length in count {
            starts.append(start)
            start += length
        }
        ordered = Array(repeating: 0, count: Int(start))
        for (index, chain) in chainOfEntry.enumerated() where chain >= 0 {
            ordered[Int(starts[Int(chain)] + positionOfEntry[index])] = Int32(index)
        }
    }
}
