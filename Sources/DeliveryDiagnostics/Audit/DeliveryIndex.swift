package import DeliveryRecording

/// An index of a recording by post, observer and thread. The audit and the diagnosis read it.
///
/// Accepts any file: records that match nothing are kept in lists of their own.
/// Cost: two passes over the records, and a dictionary lookup for each record of a post and an observer.
package struct DeliveryIndex {
    /// A post and one observer of it, or a performed block.
    package struct Pair {
        package var post: Int32
        /// -1 for a block, and if the records do not tell observers apart.
        package var observer: Int32
        package var kind: Kind
        /// Indices of entries, or -1.
        package var append: Int32 = -1
        package var outcome: Int32 = -1
        package var secondOutcome: Int32 = -1
        package var skip: Int32 = -1
        /// Index in `handlers`.
        package var handler: Int32 = -1

        package enum Kind: UInt8 {
            case observed
            /// Delivered by the document's technique: records have no observers, posts have no counts, and nothing is
            /// appended.
            case redirected
            case block
        }
    }

    /// One call of a handler.
    struct Handler {
        var thread: Int32
        var observer: Int32
        /// Index in `pairs`; -1 if the post is unknown.
        var pair: Int32
        /// Index of the `deliver` entry.
        var deliver: Int32
        /// Index of the `return` entry; -1 if the handler did not return.
        var returned: Int32 = -1
        /// Index in `handlers` of the handler that this one ran inside, or -1.
        var outer: Int32
        /// The time spent in handlers that ran inside this one, in nanoseconds.
        var nested: UInt64 = 0
    }

    package let recording: Recording
    package private(set) var pairs: [Pair] = []
    private(set) var handlers: [Handler] = []
    /// For each entry: its pair, or -1. In the document's technique, the `post` or `capture` entry has a pair too.
    package private(set) var pairOfEntry: [Int32]
    private var pairOfKey: [UInt64: Int32] = [:]

    /// For each post: the index of its `post` or `capture` entry, and of its `enqueue` entry.
    package private(set) var posted: [Int32]
    package private(set) var enqueued: [Int32]
    /// For each post that was enqueued: the number of outcomes it had in its queue, and the entry of the last one.
    package private(set) var queueOutcomeCounts: [Int32]
    private(set) var queueOutcome: [Int32]
    /// For each post: the handler that made it, in `handlers`.
    private(set) var cause: [Int32]
    /// For each post: the number of its pairs.
    package private(set) var matches: [Int32]
    /// Posts that were still being made when the recording ended: their thread has no later record.
    private(set) var unfinished: Set<Int32> = []

    /// For each observer.
    package private(set) var registered: [Int32]
    package private(set) var removed: [Int32]

    /// For each thread.
    private(set) var threadEnd: [Int32]
    private(set) var lastOfThread: [Int32]

    /// For each process: its last entry, and the entry that says how the recording or the process ended.
    private(set) var lastOfProcess: [Int32]
    private(set) var end: [Int32]
    /// For each process: whether its recording is complete.
    private(set) var isComplete: [Bool]

    /// Indices of entries without a counterpart: a return without a call, and the outcome in a queue of a post that was
    /// not enqueued.
    private(set) var strayReturns: [Int32] = []
    private(set) var strayQueueOutcomes: [Int32] = []
    /// For each observer: the number of outcomes of posts from before the recording.
    private(set) var earlier: [Int32]

    package init(_ recording: Recording) {
        self.recording = recording
        func none(_ count: Int) -> [Int32] { Array(repeating: -1, count: count) }
        let (posts, threads) = (recording.posts.count, recording.threads.count)
        let (observers, processes) = (recording.observers.count, recording.processes.count)
        pairOfEntry = none(recording.entries.count)
        (posted, enqueued, queueOutcome, cause) = (none(posts), none(posts), none(posts), none(posts))
        (registered, removed) = (none(observers), none(observers))
        (threadEnd, lastOfThread) = (none(threads), none(threads))
        (lastOfProcess, end) = (none(processes), none(processes))
        queueOutcomeCounts = Array(repeating: 0, count: posts)
        matches = Array(repeating: 0, count: posts)
        earlier = Array(repeating: 0, count: observers)
        isComplete = Array(repeating: false, count: processes)
        let processesWithReturns = indexStarts()
        pairOfKey.reserveCapacity(recording.entries.count / 3)
        indexDeliveries(processesWithReturns: processesWithReturns)
    }

    /// Indexes registrations, posts and ends, which the second pass needs.
    /// - Returns: for each process, whether handlers without an observer have `return` records.
    private mutating func indexStarts() -> [Bool] {
        var returns = Array(repeating: false, count: recording.processes.count)
        for (index, entry) in recording.entries.enumerated() {
            let entryIndex = Int32(truncatingIfNeeded: index)
            let process = recording.process(of: entry)
            // `end` is recorded by the process, not by the thread's own work.
            if entry.stage != .end { lastOfThread[Int(entry.thread)] = entryIndex }
            lastOfProcess[process] = entryIndex
            switch entry.stage {
            case .post, .capture:
                // In the document's technique, `post` and `capture` have the same number. The `post` has the source
                // location.
                if entry.post >= 0, posted[Int(entry.post)] < 0 { posted[Int(entry.post)] = entryIndex }
            case .enqueue: if entry.post >= 0 { enqueued[Int(entry.post)] = entryIndex }
            case .register:
                if entry.observer >= 0, registered[Int(entry.observer)] < 0 {
                    registered[Int(entry.observer)] = entryIndex
                }
            case .remove:
                if entry.observer >= 0, removed[Int(entry.observer)] < 0 { removed[Int(entry.observer)] = entryIndex }
            case .threadEnd: threadEnd[Int(entry.thread)] = entryIndex
            case .return: if entry.observer < 0, entry.name >= 0 { returns[process] = true }
            case .end, .processEnd: end[process] = entryIndex
            default: break
            }
        }
        isComplete = recording.completeness.map(\.isComplete)
        return returns
    }

    private mutating func indexDeliveries(processesWithReturns: [Bool]) {
        /// For each thread: the handlers that it is in.
        var stacks: [[Int32]] = Array(repeating: [], count: recording.threads.count)
        /// For each thread: the posts that it may still be making, and the number of handlers that it was in when each
        /// began.
        var open: [[(post: Int32, depth: Int)]] = Array(repeating: [], count: recording.threads.count)
        /// For each process: the names that are observed by the document's technique.
        var redirected: Set<UInt64> = []
        for index in recording.entries.indices {
            let entry = recording.entries[index]
            let entryIndex = Int32(truncatingIfNeeded: index)
            let process = recording.process(of: entry)
            let name = UInt64(process) << 32 | UInt64(UInt32(bitPattern: entry.name))
            switch entry.stage {
            case .register:
                if entry.observer < 0 { redirected.insert(name) }
                endPosts(&open[Int(entry.thread)], depth: stacks[Int(entry.thread)].count)
            case .enqueue:
                setCause(of: entry, stacks)
                endPosts(&open[Int(entry.thread)], depth: stacks[Int(entry.thread)].count)
            case .post, .capture:
                setCause(of: entry, stacks)
                guard entry.post >= 0 else { break }
                let depth = stacks[Int(entry.thread)].count
                endPosts(&open[Int(entry.thread)], depth: depth)
                if entry.count > 0 { open[Int(entry.thread)].append((entry.post, depth)) }
                if entry.stage == .post, enqueued[Int(entry.post)] >= 0 { resolveInQueue(entry, entryIndex) }
                if entry.count < 0, redirected.contains(name) {
                    pairOfEntry[index] = pair(entry.post, -1, .redirected)
                }
            case .dequeue:
                resolveInQueue(entry, entryIndex)
            case .append:
                if entry.observer < 0 { setCause(of: entry, stacks) }
                guard let pair = pair(of: entry) else { break }
                pairOfEntry[index] = pair
                if pairs[Int(pair)].append < 0 { pairs[Int(pair)].append = entryIndex }
            case .skip:
                guard let pair = pair(of: entry) else { break }
                pairOfEntry[index] = pair
                pairs[Int(pair)].skip = entryIndex
            case .coalesce, .drop, .cancel, .targetGone:
                if entry.observer < 0, entry.name >= 0 || entry.post >= 0 && enqueued[Int(entry.post)] >= 0 {
                    resolveInQueue(entry, entryIndex)
                } else {
                    resolve(entry, entryIndex)
                }
            case .deliver:
                resolve(entry, entryIndex)
                // Without a `return` record the handler would seem to contain everything that follows.
                if entry.observer >= 0 || entry.name < 0 || processesWithReturns[process] {
                    begin(entry, entryIndex, &stacks[Int(entry.thread)])
                }
            case .return:
                endHandler(entry, entryIndex, &stacks[Int(entry.thread)])
                endPosts(&open[Int(entry.thread)], depth: stacks[Int(entry.thread)].count + 1)
            case .threadEnd:
                open[Int(entry.thread)] = []
            case .end:
                // A signal can end the process in the middle of a post. Every other end happens between posts or in a
                // handler.
                if entry.reason?.isSignal == true { break }
                endPosts(&open[Int(entry.thread)], depth: stacks[Int(entry.thread)].count)
            default: break
            }
        }
        unfinished = Set(open.joined().map(\.post))
    }

    /// Called when a thread records something while it is in `depth` handlers: its posts that began at this depth or
    /// deeper are complete.
    private func endPosts(_ open: inout [(post: Int32, depth: Int)], depth: Int) {
        while let last = open.last, last.depth >= depth { open.removeLast() }
    }

    private mutating func setCause(of entry: Recording.Entry, _ stacks: [[Int32]]) {
        guard entry.post >= 0, cause[Int(entry.post)] < 0 else { return }
        if entry.relatedPost >= 0, enqueued[Int(entry.relatedPost)] >= 0 {
            // The cause is the handler that enqueued it, not the one during which the queue posts it.
            cause[Int(entry.post)] = cause[Int(entry.relatedPost)]
        } else if entry.stage != .post || enqueued[Int(entry.post)] < 0 {
            cause[Int(entry.post)] = stacks[Int(entry.thread)].last ?? -1
        }
    }

    // MARK: Pairs

    /// The pair of an entry; nil if its post is unknown.
    private mutating func pair(of entry: Recording.Entry) -> Int32? {
        guard entry.post >= 0 else { return nil }
        return pair(entry.post, entry.observer, entry.observer >= 0 ? .observed : entry.name < 0 ? .block : .redirected)
    }

    private mutating func pair(_ post: Int32, _ observer: Int32, _ kind: Pair.Kind) -> Int32 {
        let key = key(post, observer)
        if let known = pairOfKey[key] { return known }
        let newPair = Int32(truncatingIfNeeded: pairs.count)
        pairOfKey[key] = newPair
        pairs.append(Pair(post: post, observer: observer, kind: kind))
        matches[Int(post)] += 1
        return newPair
    }

    private mutating func resolve(_ entry: Recording.Entry, _ entryIndex: Int32) {
        guard let pair = pair(of: entry) else {
            if entry.observer >= 0 { earlier[Int(entry.observer)] += 1 }
            return
        }
        pairOfEntry[Int(entryIndex)] = pair
        if pairs[Int(pair)].outcome < 0 {
            pairs[Int(pair)].outcome = entryIndex
        } else if pairs[Int(pair)].secondOutcome < 0 {
            pairs[Int(pair)].secondOutcome = entryIndex
        }
    }

    private mutating func resolveInQueue(_ entry: Recording.Entry, _ entryIndex: Int32) {
        guard entry.post >= 0, enqueued[Int(entry.post)] >= 0 else {
            if entry.post >= 0 { strayQueueOutcomes.append(entryIndex) }
            return
        }
        queueOutcomeCounts[Int(entry.post)] += 1
        queueOutcome[Int(entry.post)] = entryIndex
    }

    // MARK: Handlers

    private mutating func begin(_ entry: Recording.Entry, _ entryIndex: Int32, _ stack: inout [Int32]) {
        let number = Int32(truncatingIfNeeded: handlers.count)
        let pair = pairOfEntry[Int(entryIndex)]
        handlers.append(
            Handler(
                thread: entry.thread, observer: entry.observer, pair: pair, deliver: entryIndex, outer: stack.last ?? -1
            ))
        if pair >= 0 { pairs[Int(pair)].handler = number }
        stack.append(number)
    }

    private mutating func endHandler(_ entry: Recording.Entry, _ entryIndex: Int32, _ stack: inout [Int32]) {
        let pair = entry.post < 0 ? -1 : pairOfKey[key(entry.post, entry.observer)] ?? -1
        // Handlers above it on the stack have no `return` record and have ended too. The search for an unknown post
        // looks at 16 handlers at most.
        let handler: Int32
        if pair >= 0 {
            handler = pairs[Int(pair)].handler
        } else {
            handler =
                stack.suffix(16).last {
                    handlers[Int($0)].pair < 0 && handlers[Int($0)].observer == entry.observer
                } ?? -1
        }
        guard handler >= 0, handlers[Int(handler)].thread == entry.thread, handlers[Int(handler)].returned < 0 else {
            if pair >= 0 || entry.post >= 0 { strayReturns.append(entryIndex) }
            return
        }
        while let last = stack.popLast(), last != handler {}
        handlers[Int(handler)].returned = entryIndex
        let outer = handlers[Int(handler)].outer
        if outer >= 0 { handlers[Int(outer)].nested += duration(of: Int(handler)) ?? 0 }
    }

    private func key(_ post: Int32, _ observer: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: post)) << 32 | UInt64(UInt32(bitPattern: observer))
    }

    // MARK: Questions

    package func entry(_ entryIndex: Int32) -> Recording.Entry { recording.entries[Int(entryIndex)] }

    /// The time from `deliver` to `return`, in nanoseconds; nil if the handler did not return.
    func duration(of handler: Int) -> UInt64? {
        let handler = handlers[handler]
        guard handler.returned >= 0 else { return nil }
        let (begin, end) = (entry(handler.deliver).time, entry(handler.returned).time)
        return end > begin ? end - begin : 0
    }

    func process(ofPost post: Int32) -> Int { Int(recording.posts[Int(post)].process) }

    /// The name of a post; -1 for a block.
    func name(ofPost post: Int32) -> Int32 {
        let entryIndex = posted[Int(post)] >= 0 ? posted[Int(post)] : enqueued[Int(post)]
        return entryIndex < 0 ? -1 : entry(entryIndex).name
    }

    /// The name of a pair; -1 for a block.
    func name(of pair: Pair) -> Int32 {
        let name = name(ofPost: pair.post)
        if name >= 0 { return name }
        let entryIndex = pair.append >= 0 ? pair.append : pair.outcome >= 0 ? pair.outcome : pair.skip
        return entryIndex < 0 ? -1 : entry(entryIndex).name
    }

    /// The thread that a pair is or was waiting for; -1 if it is unknown.
    func target(of pair: Pair) -> Int32 {
        if pair.append >= 0, entry(pair.append).target >= 0 { return entry(pair.append).target }
        if pair.observer >= 0, registered[Int(pair.observer)] >= 0 {
            let declared = entry(registered[Int(pair.observer)]).target
            if declared >= 0 { return declared }
        }
        return pair.outcome >= 0 ? entry(pair.outcome).target : -1
    }

    func hasPair(_ post: Int32, _ observer: Int32) -> Bool { pairOfKey[key(post, observer)] != nil }

    /// Pairs that are still pending although the observer received something that the same thread handed over later. By
    /// guarantee 4 they can no longer arrive. Indices in `pairs`.
    var passedOver: Set<Int32> {
        var passedOver: Set<Int32> = []
        /// Observers that received something later, with the thread that handed it over.
        var later: Set<UInt64> = []
        for (number, pair) in pairs.enumerated().reversed() where pair.kind == .observed && pair.append >= 0 {
            let way = key(entry(pair.append).thread, pair.observer)
            if isPending(pair) {
                if later.contains(way), !targetHasEnded(pair) { passedOver.insert(Int32(number)) }
            } else if pair.outcome > pair.append, entry(pair.outcome).stage == .deliver, !entry(pair.outcome).overtakes
            {
                later.insert(way)
            }
        }
        return passedOver
    }

    /// True if a post or capture matched more observers than have records.
    func hasUnrecordedMatch(_ posted: Int32) -> Bool {
        let entry = entry(posted)
        return entry.post >= 0 && entry.count > matches[Int(entry.post)]
    }

    package func isPending(_ pair: Pair) -> Bool { pair.outcome < 0 && pair.skip < 0 }

    /// True if the pair's target thread ended after the notification was handed to it.
    func targetHasEnded(_ pair: Pair) -> Bool {
        let target = target(of: pair)
        return target >= 0 && pair.append >= 0 && threadEnd[Int(target)] > pair.append
    }
}
