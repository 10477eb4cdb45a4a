internal import DeliveryRecording
internal import ThreadedNotifications

/// One try to match one run with the other. Goes through the first run's records in order. The counterpart of each is
/// the record at the same position of the matching chain.
struct RunWalk {
    /// Where the runs differ: a record of each, or of one only.
    struct Mismatch {
        var entries: Pair<Int?>
        var reason: RunDifference.Reason
    }

    let runs: Pair<ComparedRun>
    /// Whether records may be missing from truncated processes.
    private let allowsTruncation: Bool
    private let colours: ThreadColours
    private let isExact: Bool
    /// The first thread of the first run that had several candidates.
    private(set) var firstChoice: Int32?
    private(set) var threads: Renaming
    private(set) var processes: Renaming
    private(set) var posts: Renaming
    private(set) var observers: Renaming
    private(set) var chains: Renaming
    /// By colour: the number of leading candidates that are already matched.
    private var firstFree: [UInt64: Int] = [:]
    /// Numbers of unknown threads in messages, and their counterparts.
    private var numbers = Pair<[Recording.Numbered: Recording.Numbered]>([:], [:])
    /// The number of the first run's records that have a counterpart.
    private(set) var compared = 0
    /// The first record that the second run lacks because its recording is truncated.
    private(set) var firstMissing: Int?

    init(_ runs: Pair<ComparedRun>, colours: ThreadColours, isExact: Bool, allowsTruncation: Bool) {
        (self.runs, self.colours, self.allowsTruncation) = (runs, colours, allowsTruncation)
        self.isExact = isExact
        threads = Renaming(runs.map(\.recording.threads.count))
        processes = Renaming(runs.map(\.recording.processes.count))
        posts = Renaming(runs.map(\.recording.posts.count))
        observers = Renaming(runs.map(\.recording.observers.count))
        let counts = runs.map(\.chains.chains.count)
        chains = Renaming(counts)
        if isExact, counts.first > 0, counts.second > 0 { _ = chains.match(0, 0) }
    }

    /// - Parameter progress: called from time to time with the number of records compared.
    /// - Returns: nil if the runs are the same.
    mutating func run(_ progress: (Int) -> Void) -> Mismatch? {
        for index in runs.first.recording.entries.indices {
            let chain = runs.first.chains.chainOfEntry[index]
            guard chain >= 0 else { continue }
            let (counterpart, position) = (counterpart(of: chain), runs.first.chains.positionOfEntry[index])
            guard position >= 0 else { continue }
            let match = runs.second.chains.entry(of: counterpart, at: position)
            guard match >= 0 else {
                let process = runs.first.process(ofThread: runs.first.recording.entries[index].thread)
                guard mayBeMissing(process, of: .first) else {
                    return Mismatch(entries: Pair(index, nil), reason: .onlyInFirst)
                }
                if firstMissing == nil { firstMissing = index }
                continue
            }
            if let reason = difference(runs.first.recording.entries[index], runs.second.recording.entries[match]) {
                return Mismatch(entries: Pair(index, match), reason: reason)
            }
            compared += 1
            if compared & 0xFFFF == 0 { progress(compared) }
        }
        let unmatched = firstUnmatched { process in !mayBeMissing(process, of: .second) }
        return unmatched.map { Mismatch(entries: Pair(nil, $0), reason: .onlyInSecond) }
    }

    /// The first compared record of the second run that has no counterpart.
    ///
    /// - Parameter isCounted: whether records of a process count.
    func firstUnmatched(_ isCounted: (Int32) -> Bool = { _ in true }) -> Int? {
        let run = runs.second
        return run.recording.entries.indices.first { index in
            let position = run.chains.positionOfEntry[index]
            guard position >= 0, isCounted(run.process(ofThread: run.recording.entries[index].thread)) else {
                return false
            }
            let counterpart = chains.counterpart(of: run.chains.chainOfEntry[index], on: .second)
            return runs.first.chains.entry(of: counterpart, at: position) < 0
        }
    }

    /// Returns whether the other run may lack records of a process because they come after its truncation.
    private func mayBeMissing(_ process: Int32, of side: RunSide) -> Bool {
        guard allowsTruncation else { return false }
        let counterpart = processes.counterpart(of: process, on: side)
        let other = runs[side.opposite]
        return counterpart < 0 ? other.isTruncated : other.isTruncated(counterpart)
    }

    // MARK: Chains and threads

    /// The chain of the second run that corresponds to one of the first, or -1.
    private mutating func counterpart(of chain: Int32) -> Int32 {
        let known = chains.counterpart(of: chain, on: .first)
        if known >= 0 { return known }
        let (parent, thread) = (
            runs.first.chains.chains[Int(chain)].parent, runs.first.chains.chains[Int(chain)].thread
        )
        // An observer is matched by its registration, and a post where it is made.
        var own = runs.first.chains.chains[Int(chain)].own
        let (observer, post) = (own.observer, own.post)
        own.observer = observers.counterpart(of: observer, on: .first)
        own.post = posts.counterpart(of: post, on: .first)
        if observer >= 0, own.observer < 0 { return -1 }
        if post >= 0, own.post < 0 { return -1 }
        // A chain is matched before the chains that it hands over.
        let parentInSecond = chains.counterpart(of: parent, on: .first)
        if parent >= 0, parentInSecond < 0 { return -1 }
        var threadInSecond = threads.counterpart(of: thread, on: .first)
        if threadInSecond < 0 {
            guard let candidate = choose(for: thread, after: parentInSecond, own), match(thread, candidate)
            else {
                return -1
            }
            threadInSecond = candidate
        }
        let found = runs.second.chains.knownChain(after: parentInSecond, on: threadInSecond, own)
        return found >= 0 && chains.match(chain, found) ? found : -1
    }

    /// Chooses a thread of the second run for an unmatched one of the first.
    ///
    /// - Parameters:
    ///   - parent: the parent of the thread's chain in the second run, or -1.
    ///   - own: what the chain has of its own in the second run.
    private mutating func choose(
        for thread: Int32, after parent: Int32, _ own: CausalChains.Own
    ) -> Int32? {
        let (colour, sameColour) = (colours.colour(of: thread), colours.candidates(of: thread))
        var start = firstFree[colour, default: 0]
        while start < sameColour.count, threads.counterpart(of: sameColour[start], on: .second) >= 0 { start += 1 }
        firstFree[colour] = start
        var found = suitable(sameColour[start...], for: thread, after: parent, own)
        if found.isEmpty, !colours.areEqual {
            found = suitable(colours.namesakes(of: thread)[...], for: thread, after: parent, own)
        }
        if found.count > 1, firstChoice == nil, !colours.individuals.contains(thread) { firstChoice = thread }
        return found.first
    }

    /// At most two threads that are not matched yet and have the chain.
    private func suitable(
        _ candidates: ArraySlice<Int32>, for thread: Int32, after parent: Int32, _ own: CausalChains.Own
    ) -> [Int32] {
        Array(
            candidates.lazy.filter { candidate in
                threads.counterpart(of: candidate, on: .second) < 0
                    && runs.second.chains.knownChain(after: parent, on: candidate, own) >= 0
                    && mayMatchProcesses(of: thread, candidate)
            }.prefix(2))
    }

    private func mayMatchProcesses(of thread: Int32, _ threadInSecond: Int32) -> Bool {
        processes.mayMatch(runs.first.process(ofThread: thread), runs.second.process(ofThread: threadInSecond))
    }

    /// True if the thread belongs to a truncated process and has no records before the end, not even a name.
    private func isUnknown(_ thread: Int32, of run: ComparedRun) -> Bool {
        allowsTruncation && run.threadKeys[Int(thread)] == -1 && !run.chains.isActive[Int(thread)]
            && run.isTruncated(processOf: thread)
    }

    private mutating func match(_ thread: Int32, _ threadInSecond: Int32) -> Bool {
        guard threads.mayMatch(thread, threadInSecond) else { return false }
        if threads.counterpart(of: thread, on: .first) == threadInSecond { return true }
        guard mayMatchProcesses(of: thread, threadInSecond),
            isExact || colours.mayMatch(thread, threadInSecond) || isUnknown(thread, of: runs.first)
                || isUnknown(threadInSecond, of: runs.second)
        else { return false }
        _ = processes.match(runs.first.process(ofThread: thread), runs.second.process(ofThread: threadInSecond))
        return threads.match(thread, threadInSecond)
    }

    // MARK: Records

    private mutating func difference(_ entry: Recording.Entry, _ match: Recording.Entry) -> RunDifference.Reason? {
        if isExact, !self.match(runs.first.lane(entry.thread), runs.second.lane(match.thread)) { return .thread }
        guard entry.stage == match.stage else { return .stage }
        guard runs.first.nameNumber(of: entry) == runs.second.nameNumber(of: match) else { return .name }
        guard posts.match(entry.post, match.post) else { return .post }
        guard observers.match(entry.observer, match.observer) else { return .observer }
        guard self.match(runs.first.lane(entry.target), runs.second.lane(match.target)) else { return .target }
        guard posts.match(entry.relatedPost, match.relatedPost) else { return .relatedPost }
        // The number of handlers that run during a removal is chance.
        guard entry.count == match.count || entry.stage == .remove else {
            return entry.stage == .post || entry.stage == .capture ? .count : .details
        }
        // Addresses are reused, so only the type of the sender is compared.
        if entry.sender >= 0 || match.sender >= 0 {
            let (sender, other) = (runs.first.recording.sender(of: entry), runs.second.recording.sender(of: match))
            guard sender?.type == other?.type else { return .sender }
        }
        guard entry.overtakes == match.overtakes, entry.style == match.style, entry.policy == match.policy,
            areEqual(entry.reason, match.reason),
            runs.first.recording.counters(of: entry) == runs.second.recording.counters(of: match)
        else { return .details }
        guard runs.first.messageNumber(of: entry) == runs.second.messageNumber(of: match) else { return .message }
        return mentionsMatch(entry, match) ? nil : .mention
    }

    /// Without a reason, an observer was removed in a way that is not known, as in version 2.
    private func areEqual(_ reason: DeliveryRecord.Reason?, _ other: DeliveryRecord.Reason?) -> Bool {
        let removals: [DeliveryRecord.Reason?] = [nil, .cancelled, .released]
        return reason == other
            || (reason == nil || other == nil) && removals.contains(reason) && removals.contains(other)
    }

    private mutating func mentionsMatch(_ entry: Recording.Entry, _ match: Recording.Entry) -> Bool {
        let (mentions, otherMentions) = (runs.first.mentions(of: entry), runs.second.mentions(of: match))
        guard mentions.count == otherMentions.count else { return false }
        for (mention, other) in zip(mentions, otherMentions) {
            let isMain = runs.first.isMain(mention, in: entry)
            let name = isMain ? "main" : nil
            guard isMain == runs.second.isMain(other, in: match), (mention.name ?? name) == (other.name ?? name) else {
                return false
            }
            if isMain { continue }
            if mention.isKernelID == other.isKernelID {
                let thread = runs.first.thread(of: mention, in: entry)
                let otherThread = runs.second.thread(of: other, in: match)
                let isAfterTruncation =
                    (thread < 0 && runs.first.isTruncated(processOf: entry.thread))
                    || (otherThread < 0 && runs.second.isTruncated(processOf: match.thread))
                if allowsTruncation, isAfterTruncation { continue }
                if thread >= 0 || otherThread >= 0 {
                    guard self.match(thread, otherThread) else { return false }
                    continue
                }
            }
            let number = Recording.Numbered(process: runs.first.process(ofThread: entry.thread), number: mention.number)
            let otherNumber = Recording.Numbered(
                process: runs.second.process(ofThread: match.thread), number: other.number)
            if numbers.first[number] == nil, numbers.second[otherNumber] == nil {
                (numbers.first[number], numbers.second[otherNumber]) = (otherNumber, number)
            }
            guard numbers.first[number] == otherNumber else { return false }
        }
        return true
    }
}
