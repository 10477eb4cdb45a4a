internal import DeliveryRecording

/// One try to match one run with the other. Goes through the first run's records in order. The counterpart of each is
/// the record at the same position of the matching chain.
struct CausalWalk {
    /// Where the runs differ: a record of each, or of one only.
    struct Mismatch {
        /// Index in the first run's entries.
        var first: Int?
        /// Index in the second run's entries.
        var second: Int?
        var reason: CausalDifference.Reason
    }

    /// A thread with several candidates, and the one that was taken.
    struct Choice {
        /// A thread of the first run.
        var thread: Int32
        var taken: Int
        var hasMore: Bool
    }

    /// The runs that may lack records because their recordings are truncated.
    struct Truncation {
        var one = false
        var other = false
    }

    private let one: ComparedRun
    private let other: ComparedRun
    private let truncation: Truncation
    private let candidates: ThreadCandidates
    private let isExact: Bool
    private let choicesToTake: [Int]
    private(set) var choices: [Choice] = []
    private(set) var threads: TwoWayRenaming
    private(set) var processes: TwoWayRenaming
    private(set) var posts: TwoWayRenaming
    private(set) var observers: TwoWayRenaming
    private(set) var chains: TwoWayRenaming
    private let firstFree = ThreadCandidates.FirstFree()
    /// Numbers of unknown threads in messages.
    private var numbers: [Recording.Numbered: Int] = [:]
    private var numbersBack: [Recording.Numbered: Int] = [:]
    /// The number of the first run's records that were compared.
    private(set) var compared = 0
    /// The number of those that the second run lacks because its recording is truncated.
    private(set) var missing = 0
    private(set) var firstMissing: Int?

    init(
        _ one: ComparedRun, _ other: ComparedRun, candidates: ThreadCandidates, order: CausalComparison.Order,
        choices: [Int], truncation: Truncation = Truncation()
    ) {
        (self.one, self.other, self.candidates, self.truncation) = (one, other, candidates, truncation)
        isExact = order.isExact
        choicesToTake = choices
        threads = TwoWayRenaming(one.recording.threads.count, other.recording.threads.count)
        processes = TwoWayRenaming(one.recording.processes.count, other.recording.processes.count)
        posts = TwoWayRenaming(one.recording.posts.count, other.recording.posts.count)
        observers = TwoWayRenaming(one.recording.observers.count, other.recording.observers.count)
        chains = TwoWayRenaming(one.chains.count.count, other.chains.count.count)
        if isExact, !one.recording.entries.isEmpty, !other.recording.entries.isEmpty { _ = chains.match(0, 0) }
    }

    /// - Parameter progress: called from time to time with the number of records compared.
    /// - Returns: nil if the runs are the same.
    mutating func run(_ progress: (Int) -> Void) -> Mismatch? {
        for index in one.recording.entries.indices {
            let chain = one.chains.chainOfEntry[index]
            guard chain >= 0 else { continue }
            compared += 1
            if compared & 0xFFFF == 0 { progress(compared) }
            let counterpart = counterpart(of: chain)
            let match =
                counterpart < 0 ? -1 : other.chains.entry(of: counterpart, at: one.chains.positionOfEntry[index])
            guard match >= 0 else {
                guard truncation.other else { return Mismatch(first: index, reason: .onlyInFirst) }
                missing += 1
                if firstMissing == nil { firstMissing = index }
                continue
            }
            if let reason = difference(one.recording.entries[index], other.recording.entries[match]) {
                return Mismatch(first: index, second: match, reason: reason)
            }
        }
        if truncation.one { return nil }
        return firstUnmatched.map { Mismatch(second: $0, reason: .onlyInSecond) }
    }

    /// The choices of the next try; nil if there is none.
    var nextChoices: [Int]? {
        choices.lastIndex(where: \.hasMore).map { last in
            choices[..<last].map(\.taken) + [choices[last].taken + 1]
        }
    }

    /// The first compared record of the second run that has no counterpart so far.
    var firstUnmatched: Int? {
        other.recording.entries.indices.first { index in
            let chain = other.chains.chainOfEntry[index]
            guard chain >= 0 else { return false }
            let counterpart = chains.inFirst(chain)
            guard counterpart >= 0 else { return true }
            return one.chains.entry(of: counterpart, at: other.chains.positionOfEntry[index]) < 0
        }
    }

    /// The chain of the second run that corresponds to one of the first, or -1.
    private mutating func counterpart(of chain: Int32) -> Int32 {
        let known = chains.inSecond(chain)
        if known >= 0 { return known }
        let (parent, thread) = (one.chains.parent[Int(chain)], one.chains.thread[Int(chain)])
        // A chain is matched before the chains that it hands over.
        let parentInSecond = chains.inSecond(parent)
        if parent >= 0, parentInSecond < 0 { return -1 }
        func chainInSecond(_ thread: Int32) -> Int32 {
            parent < 0 ? other.chains.knownRoot(of: thread) : other.chains.knownChild(of: parentInSecond, on: thread)
        }
        var threadInSecond = threads.inSecond(thread)
        if threadInSecond < 0 {
            guard let (candidate, choice) = choose(for: thread, isSuitable: { chainInSecond($0) >= 0 }),
                match(thread, candidate)
            else { return -1 }
            if let choice { choices.append(choice) }
            threadInSecond = candidate
        }
        let found = chainInSecond(threadInSecond)
        return found >= 0 && chains.match(chain, found) ? found : -1
    }

    /// Chooses a thread of the second run for an unmatched one of the first.
    private func choose(for thread: Int32, isSuitable: (Int32) -> Bool) -> (thread: Int32, choice: Choice?)? {
        func candidate(after skipped: Int) -> (thread: Int32, hasMore: Bool)? {
            candidates.candidate(for: thread, after: skipped, firstFree: firstFree) {
                threads.inFirst($0) < 0
            } isSuitable: {
                isSuitable($0) && mayMatchProcesses(of: thread, $0)
            }
        }
        guard let first = candidate(after: 0) else { return nil }
        guard first.hasMore else { return (first.thread, nil) }
        let taken = choices.count < choicesToTake.count ? choicesToTake[choices.count] : 0
        guard let chosen = taken == 0 ? first : candidate(after: taken) else { return nil }
        return (chosen.thread, Choice(thread: thread, taken: taken, hasMore: chosen.hasMore))
    }

    private func mayMatchProcesses(of thread: Int32, _ threadInSecond: Int32) -> Bool {
        let (process, processInSecond) = (
            one.recording.threads[Int(thread)].process, other.recording.threads[Int(threadInSecond)].process
        )
        let known = processes.inSecond(process)
        return known >= 0 ? known == processInSecond : processes.inFirst(processInSecond) < 0
    }

    /// True if one of the threads belongs to a truncated run and has no records before the end, not even a name.
    private func isUnknown(_ thread: Int32, _ threadInSecond: Int32) -> Bool {
        func isUnknown(_ thread: Int32, of run: ComparedRun) -> Bool {
            run.threadKeys[Int(thread)] == -1 && !run.chains.isActive[Int(thread)]
        }
        return (truncation.one && isUnknown(thread, of: one))
            || (truncation.other && isUnknown(threadInSecond, of: other))
    }

    private mutating func match(_ thread: Int32, _ threadInSecond: Int32) -> Bool {
        guard thread >= 0, threadInSecond >= 0 else { return thread < 0 && threadInSecond < 0 }
        let known = threads.inSecond(thread)
        if known >= 0 { return known == threadInSecond }
        guard threads.inFirst(threadInSecond) < 0, mayMatchProcesses(of: thread, threadInSecond),
            isExact || candidates.mayMatch(thread, threadInSecond) || isUnknown(thread, threadInSecond)
        else { return false }
        _ = processes.match(
            one.recording.threads[Int(thread)].process, other.recording.threads[Int(threadInSecond)].process)
        return threads.match(thread, threadInSecond)
    }

    private mutating func difference(
        _ entry: Recording.Entry, _ match: Recording.Entry
    ) -> CausalDifference.Reason? {
        if isExact, !self.match(entry.thread, match.thread) { return .thread }
        guard entry.stage == match.stage else { return .stage }
        guard one.nameNumber(of: entry) == other.nameNumber(of: match) else { return .name }
        guard posts.match(entry.post, match.post) else { return .post }
        guard observers.match(entry.observer, match.observer) else { return .observer }
        guard self.match(entry.target, match.target) else { return .target }
        guard posts.match(entry.relatedPost, match.relatedPost) else { return .relatedPost }
        // The number of handlers that run during a removal is chance.
        guard entry.count == match.count || entry.stage == .remove else { return .count }
        // Addresses are reused, so only the type of the sender is compared.
        if entry.sender >= 0 || match.sender >= 0 {
            guard one.senderType(of: entry) == other.senderType(of: match) else { return .sender }
        }
        guard entry.hasSameDetails(as: match),
            one.recording.counters(of: entry) == other.recording.counters(of: match)
        else { return .message }
        guard one.messageNumber(of: entry) == other.messageNumber(of: match) else { return .message }
        return mentionsMatch(entry, match) ? nil : .mention
    }

    private mutating func mentionsMatch(_ entry: Recording.Entry, _ match: Recording.Entry) -> Bool {
        let (mentions, otherMentions) = (one.mentions(of: entry), other.mentions(of: match))
        guard mentions.count == otherMentions.count else { return false }
        for (mention, otherMention) in zip(mentions, otherMentions) {
            let (isMain, otherIsMain) = (one.isMain(mention, in: entry), other.isMain(otherMention, in: match))
            guard isMain == otherIsMain else { return false }
            guard (mention.name ?? (isMain ? "main" : nil)) == (otherMention.name ?? (isMain ? "main" : nil)) else {
                return false
            }
            if isMain { continue }
            if mention.isKernelID == otherMention.isKernelID {
                let thread = one.thread(of: mention, in: entry)
                let otherThread = other.thread(of: otherMention, in: match)
                if (thread < 0 && truncation.one) || (otherThread < 0 && truncation.other) { continue }
                if thread >= 0 || otherThread >= 0 {
                    guard self.match(thread, otherThread) else { return false }
                    continue
                }
            }
            guard matchNumbers(mention, entry, otherMention, match) else { return false }
        }
        return true
    }

    private mutating func matchNumbers(
        _ mention: ThreadDescription, _ entry: Recording.Entry, _ otherMention: ThreadDescription,
        _ match: Recording.Entry
    ) -> Bool {
        let number = Recording.Numbered(process: Int32(one.recording.process(of: entry)), number: mention.number)
        let otherNumber = Recording.Numbered(
            process: Int32(other.recording.process(of: match)), number: otherMention.number)
        let (known, otherKnown) = (numbers[number], numbersBack[otherNumber])
        if known == nil, otherKnown == nil {
            numbers[number] = otherMention.number
            numbersBack[otherNumber] = mention.number
            return true
        }
        return known == otherMention.number && otherKnown == mention.number
    }
}

extension Recording.Entry {
    fileprivate func hasSameDetails(as other: Recording.Entry) -> Bool {
        overtakes == other.overtakes && style == other.style && policy == other.policy && reason == other.reason
    }
}
