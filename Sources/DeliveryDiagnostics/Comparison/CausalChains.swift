internal import DeliveryRecording

/// The happens-before order of a recording, as defined for event-driven programs. Every compared record belongs to one
/// chain, and the records of a chain are totally ordered.
///
///     root chain of a thread          what the thread does on its own, in program order
///     chain (c, thread) of a chain c  what the thread does because c handed it over, in the order in which it does it
///
/// A chain hands over the notifications and blocks of its `append` and `enqueue` records, and its posts that another
/// thread delivers. The thread handles those of one chain in order. Those of two chains interleave by chance. A
/// delivery on the posting thread belongs to the chain of its post, and everything that happens inside a handler
/// belongs to the handler's chain. Records of the mechanism (`signal`, `drain`, …) belong to no chain, because their
/// number is chance.
///
/// A handler of the document's technique has no `return` record, so its end is unknown: later records count as what its
/// thread does on its own.
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
    private var childOfChain: [UInt64: Int32] = [:]
    private var rootOfThread: [Int32]
    /// For each chain: where its entries begin in `ordered`.
    private var starts: [Int32] = []
    private var ordered: [Int32] = []

    init(_ recording: Recording, order: CausalComparison.Order) {
        chainOfEntry = Array(repeating: -1, count: recording.entries.count)
        positionOfEntry = chainOfEntry
        rootOfThread = Array(repeating: -1, count: recording.threads.count)
        isActive = Array(repeating: false, count: recording.threads.count)
        switch order {
        case .causal:
            var builder = Builder(recording)
            for index in recording.entries.indices {
                let chain = builder.chain(of: recording.entries[index], in: &self)
                if chain >= 0 { append(index, to: chain) }
            }
        case .logged:
            for (index, entry) in recording.entries.enumerated() where entry.stage == .log {
                append(index, to: root(of: entry.thread))
            }
        case .exact, .loggedExactly:
            let chain = recording.entries.first.map { root(of: $0.thread) } ?? -1
            for (index, entry) in recording.entries.enumerated() where order == .exact || entry.stage == .log {
                append(index, to: chain)
            }
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

    fileprivate static func pair(_ one: Int32, _ other: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: one)) << 32 | UInt64(UInt32(bitPattern: other))
    }

    fileprivate mutating func root(of thread: Int32) -> Int32 {
        let known = rootOfThread[Int(thread)]
        if known >= 0 { return known }
        let chain = newChain(parent: -1, thread: thread)
        rootOfThread[Int(thread)] = chain
        return chain
    }

    fileprivate mutating func child(of chain: Int32, on thread: Int32) -> Int32 {
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
        isActive[Int(thread[Int(chain)])] = true
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

/// Assigns entries to chains, one after the other.
private struct Builder {
    /// A handler that is running.
    private struct Handler {
        var chain: Int32
        var post: Int32
        var observer: Int32
    }

    /// The chain and thread of a post.
    private struct Origin {
        var chain: Int32 = -1
        var thread: Int32 = -1
    }

    /// For each thread: its running handlers, the innermost last.
    private var handlers: [[Handler]]
    private var posted: [Origin]
    private var enqueued: [Int32]
    /// The chain of each append, by post and observer.
    private var appended: [UInt64: Int32] = [:]

    init(_ recording: Recording) {
        handlers = Array(repeating: [], count: recording.threads.count)
        posted = Array(repeating: Origin(), count: recording.posts.count)
        enqueued = Array(repeating: -1, count: recording.posts.count)
    }

    mutating func chain(of entry: Recording.Entry, in chains: inout CausalChains) -> Int32 {
        switch entry.stage {
        case .signal, .dropSignal, .drain, .wait, .waitEnd, .lost, .end, .fork, .threadEnd:
            return -1
        case .register, .remove, .refuseWait, .count, .log, .processStart, .processEnd:
            return current(entry.thread, in: &chains)
        case .enqueue:
            let chain = current(entry.thread, in: &chains)
            if entry.post >= 0 { enqueued[Int(entry.post)] = chain }
            return chain
        case .post:
            return post(entry, in: &chains)
        case .capture:
            return capture(entry, in: &chains)
        case .append:
            let chain = postChain(entry, in: &chains) ?? current(entry.thread, in: &chains)
            if entry.post >= 0 { appended[CausalChains.pair(entry.post, entry.observer)] = chain }
            return chain
        case .skip:
            return postChain(entry, in: &chains) ?? current(entry.thread, in: &chains)
        case .deliver:
            let chain = handedOver(entry, in: &chains)
            // A name without an observer means the document's technique. Its handlers have no `return` records.
            if entry.observer >= 0 || entry.name < 0 {
                handlers[Int(entry.thread)].append(
                    Handler(chain: chain, post: entry.post, observer: entry.observer))
            }
            return chain
        case .return:
            return returned(entry, in: &chains)
        case .coalesce, .drop, .cancel, .targetGone:
            return handedOver(entry, in: &chains)
        case .dequeue:
            guard entry.post >= 0, enqueued[Int(entry.post)] >= 0 else { return current(entry.thread, in: &chains) }
            return chains.child(of: enqueued[Int(entry.post)], on: entry.thread)
        }
    }

    /// The chain of the thread's innermost handler, or its root chain.
    private func current(_ thread: Int32, in chains: inout CausalChains) -> Int32 {
        handlers[Int(thread)].last?.chain ?? chains.root(of: thread)
    }

    private mutating func post(_ entry: Recording.Entry, in chains: inout CausalChains) -> Int32 {
        guard entry.post >= 0 else { return current(entry.thread, in: &chains) }
        let from = enqueued[Int(entry.post)]
        let chain =
            from >= 0 ? chains.child(of: from, on: entry.thread) : current(entry.thread, in: &chains)
        posted[Int(entry.post)] = Origin(chain: chain, thread: entry.thread)
        return chain
    }

    private mutating func capture(_ entry: Recording.Entry, in chains: inout CausalChains) -> Int32 {
        var chain = postChain(entry, in: &chains)
        if chain == nil, entry.relatedPost >= 0, posted[Int(entry.relatedPost)].chain >= 0 {
            chain = posted[Int(entry.relatedPost)].chain
        }
        let known = chain ?? current(entry.thread, in: &chains)
        if entry.post >= 0, posted[Int(entry.post)].chain < 0 {
            posted[Int(entry.post)] = Origin(chain: known, thread: entry.thread)
        }
        return known
    }

    /// The chain of the entry's post on the entry's thread.
    private func postChain(_ entry: Recording.Entry, in chains: inout CausalChains) -> Int32? {
        guard entry.post >= 0 else { return nil }
        let origin = posted[Int(entry.post)]
        guard origin.chain >= 0 else { return nil }
        return origin.thread == entry.thread ? origin.chain : chains.child(of: origin.chain, on: entry.thread)
    }

    /// The chain of a delivery or of another outcome.
    private func handedOver(_ entry: Recording.Entry, in chains: inout CausalChains) -> Int32 {
        guard entry.post >= 0 else { return current(entry.thread, in: &chains) }
        if let from = appended[CausalChains.pair(entry.post, entry.observer)] {
            return chains.child(of: from, on: entry.thread)
        }
        if entry.observer < 0, entry.stage != .deliver, enqueued[Int(entry.post)] >= 0 {
            return chains.child(of: enqueued[Int(entry.post)], on: entry.thread)
        }
        return postChain(entry, in: &chains) ?? current(entry.thread, in: &chains)
    }

    private mutating func returned(_ entry: Recording.Entry, in chains: inout CausalChains) -> Int32 {
        if let last = handlers[Int(entry.thread)].last, last.post == entry.post, last.observer == entry.observer {
            handlers[Int(entry.thread)].removeLast()
            return last.chain
        }
        let running = handlers[Int(entry.thread)]
        guard let index = running.lastIndex(where: { $0.post == entry.post && $0.observer == entry.observer }) else {
            return current(entry.thread, in: &chains)
        }
        // Handlers inside it without a `return` record have returned too.
        handlers[Int(entry.thread)].removeSubrange(index...)
        return running[index].chain
    }
}
