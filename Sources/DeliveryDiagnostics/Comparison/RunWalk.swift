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
        let counts = runs.map(\.chains.keys.count)
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
        var key = runs.first.chains.keys[Int(chain)]
        // A chain is matched before the chains that it hands over, an observer by its registration, and a post where it
        // is made.
        for (part, renaming) in [(\CausalChains.Key.parent, chains), (\.observer, observers), (\.post, posts)]
        where key[keyPath: part] >= 0 {
            key[keyPath: part] = renaming.counterpart(of: key[keyPath: part], on: .first)
            if key[keyPath: part] < 0 { return -1 }
        }
        let thread = key.thread
        key.thread = threads.counterpart(of: thread, on: .first)
        if key.thread < 0 {
            guard let candidate = choose(for: thread, key), match(thread, candidate) else { return -1 }
            key.thread = candidate
        }
        let found = runs.second.chains.chain(key)
        return found >= 0 && chains.match(chain, found) ? found : -1
    }

    /// Chooses a thread of the second run for an unmatched one of the first.
    ///
    /// - Parameter key: that of a chain in the second run, except for its thread.
    private mutating func choose(for thread: Int32, _ key: CausalChains.Key) -> Int32? {
        let (colour, sameColour) = (colours.colour(of: thread), colours.candidates(of: thread))
        var start = firstFree[colour, default: 0]
        while start < sameColour.count, threads.counterpart(of: sameColour[start], on: .second) >= 0 { start += 1 }
        firstFree[colour] = start
        /// At most two threads that are not matched yet and have the chain.
        func suitable(_ candidates: ArraySlice<Int32>) -> [Int32] {
            var (found, key) = ([Int32](), key)
            for candidate in candidates where found.count < 2 {
                key.thread = candidate
                if threads.counterpart(of: candidate, on: .second) < 0, runs.second.chains.chain(key) >= 0,
                    mayMatchProcesses(of: thread, candidate)
                {
                    found.append(candidate)
                }
            }
            return found
        }
        var found = suitable(sameColour[start...])
        if found.isEmpty, !colours.areEqual { found = suitable(colours.namesakes(of: thread)[...]) }
        if found.count > 1, firstChoice == nil, !colours.individuals.contains(thread) { firstChoice = thread }
        return found.first
    }

    private func mayMatchProcesses(of thread: Int32, _ threadInSecond: Int32) -> Bool {
        processes.mayMatch(runs.first.process(ofThread: thread), runs.second.process(ofThread: threadInSecond))
    }

    /// True if the thread belongs to a truncated process and has no records before the end, not even a name.
    private func isUnknown(_ thread: Int32, of run: ComparedRun) -> Bool {
        allowsTruncation && run.threadKeys[Int(thread)] == -1 && !run.chains.isActive(thread)
            && run.isTruncated(run.process(ofThread: thread))
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
            areEqual(entry.reason, match.reason)
        else { return .details }
        guard runs.first.messageNumber(of: entry) == runs.second.messageNumber(of: match) else { return .message }
        return mentionsMatch(entry, match) ? nil : .mention
    }

    /// Without a reason, an observer was removed in a way that is not known, as in version 2.
    private func areEqual(_ reason: Recording.Reason?, _ other: Recording.Reason?) -> Bool {
        let removals: [Recording.Reason?] = [nil, .cancelled, .released]
        return reason == other
            || (reason == nil || other == nil) && removals.contains(reason) && removals.contains(other)
    }

    private mutating func mentionsMatch(_ entry: Recording.Entry, _ match: Recording.Entry) -> Bool {
        let (mentions, otherMentions) = (runs.first.mentions(of: entry), runs.second.mentions(of: match))
        return mentions.count == otherMentions.count
            && zip(mentions, otherMentions).allSatisfy { self.matches($0, $1, entry, match) }
    }

    private mutating func matches(
        _ mention: ThreadDescription, _ other: ThreadDescription, _ entry: Recording.Entry, _ match: Recording.Entry
    ) -> Bool {
        let isMain = runs.first.isMain(mention, in: entry)
        let name = isMain ? "main" : nil
        guard isMain == runs.second.isMain(other, in: match), (mention.name ?? name) == (other.name ?? name) else {
            return false
        }
        if isMain { return true }
        let processes = Pair(runs.first.process(ofThread: entry.thread), runs.second.process(ofThread: match.thread))
        if mention.isKernelID == other.isKernelID {
            let threads = Pair(runs.first.thread(of: mention, in: entry), runs.second.thread(of: other, in: match))
            let isAfterTruncation = RunSide.allCases.contains {
                threads[$0] < 0 && runs[$0].isTruncated(processes[$0])
            }
            if allowsTruncation, isAfterTruncation { return true }
            if threads.first >= 0 || threads.second >= 0 { return self.match(threads.first, threads.second) }
        }
        let number = Recording.Numbered(process: processes.first, number: mention.number)
        let otherNumber = Recording.Numbered(process: processes.second, number: other.number)
        if numbers.first[number] == nil, numbers.second[otherNumber] == nil {
            (numbers.first[number], numbers.second[otherNumber]) = (otherNumber, number)
        }
        return numbers.first[number] == otherNumber
    }
}
