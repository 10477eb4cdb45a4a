internal import DeliveryRecording

/// One try to match one run with the other. Goes through the first run's records in order. The counterpart of each is
/// the record at the same position of the matching chain.
struct RunWalk {
    /// Where the runs differ: a record of each, or of one only.
    struct Mismatch {
        /// Index in the first run's entries.
        var first: Int?
        /// Index in the second run's entries.
        var second: Int?
        var reason: RunDifference.Reason
    }

    private let one: ComparedRun
    private let other: ComparedRun
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
    /// For each colour: the number of leading candidates that are already matched.
    private var firstFree: [UInt64: Int] = [:]
    /// Numbers of unknown threads in messages.
    private var numbers: [Recording.Numbered: Int] = [:]
    private var numbersBack: [Recording.Numbered: Int] = [:]
    /// The number of the first run's records that were compared.
    private(set) var compared = 0
    /// The number of those that the second run lacks because its recording is truncated.
    private(set) var missing = 0
    private(set) var firstMissing: Int?

    init(
        _ one: ComparedRun, _ other: ComparedRun, colours: ThreadColours, order: ComparisonOrder,
        allowsTruncation: Bool
    ) {
        (self.one, self.other, self.colours, self.allowsTruncation) = (one, other, colours, allowsTruncation)
        isExact = order.isExact
        threads = Renaming(one.recording.threads.count, other.recording.threads.count)
        processes = Renaming(one.recording.processes.count, other.recording.processes.count)
        posts = Renaming(one.recording.posts.count, other.recording.posts.count)
        observers = Renaming(one.recording.observers.count, other.recording.observers.count)
        chains = Renaming(one.chains.count.count, other.chains.count.count)
        if isExact, !one.chains.count.isEmpty, !other.chains.count.isEmpty { _ = chains.match(0, 0) }
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
                guard mayBeMissing(one.process(ofThread: one.recording.entries[index].thread), isForward: true) else {
                    return Mismatch(first: index, reason: .onlyInFirst)
                }
                missing += 1
                if firstMissing == nil { firstMissing = index }
                continue
            }
            if let reason = difference(one.recording.entries[index], other.recording.entries[match]) {
                return Mismatch(first: index, second: match, reason: reason)
            }
        }
        let walk = self
        let unmatched = firstUnmatched { !walk.mayBeMissing($0, isForward: false) }
        return unmatched.map { Mismatch(second: $0, reason: .onlyInSecond) }
    }

    /// The first compared record of the second run that has no counterpart so far.
    ///
    /// - Parameter isCounted: whether records of a process count.
    func firstUnmatched(_ isCounted: (Int32) -> Bool = { _ in true }) -> Int? {
        other.recording.entries.indices.first { index in
            let chain = other.chains.chainOfEntry[index]
            guard chain >= 0, isCounted(other.process(ofThread: other.recording.entries[index].thread)) else {
                return false
            }
            let counterpart = chains.inFirst(chain)
            guard counterpart >= 0 else { return true }
            return one.chains.entry(of: counterpart, at: other.chains.positionOfEntry[index]) < 0
        }
    }

    /// Returns whether the other run may lack records of a process because they come after its truncation.
    private func mayBeMissing(_ process: Int32, isForward: Bool) -> Bool {
        guard allowsTruncation else { return false }
        let another = isForward ? other : one
        let counterpart = isForward ? processes.inSecond(process) : processes.inFirst(process)
        return counterpart < 0 ? another.isTruncated : another.isTruncated(counterpart)
    }

    /// The chain of the second run that corresponds to one of the first, or -1.
    private mutating func counterpart(of chain: Int32) -> Int32 {
        let known = chains.inSecond(chain)
        if known >= 0 { return known }
        let (parent, thread) = (one.chains.parent[Int(chain)], one.chains.thread[Int(chain)])
        // A chain is matched before the chains that it hands over.
        let parentInSecond = chains.inSecond(parent)
        if parent >= 0, parentInSecond < 0 { return -1 }
        var threadInSecond = threads.inSecond(thread)
        if threadInSecond < 0 {
            guard let candidate = choose(for: thread, after: parentInSecond), match(thread, candidate) else {
                return -1
            }
            threadInSecond = candidate
        }
        let found = chainInSecond(after: parentInSecond, on: threadInSecond)
        return found >= 0 && chains.match(chain, found) ? found : -1
    }

    /// The root chain of a thread if there is no parent, else the chain that the parent handed to it; -1 for none.
    private func chainInSecond(after parent: Int32, on thread: Int32) -> Int32 {
        parent < 0 ? other.chains.knownRoot(of: thread) : other.chains.knownChild(of: parent, on: thread)
    }

    /// Chooses a thread of the second run for an unmatched one of the first.
    ///
    /// - Parameter parent: the parent of the thread's chain in the second run, or -1.
    private mutating func choose(for thread: Int32, after parent: Int32) -> Int32? {
        let colour = colours.first[Int(thread)]
        let sameColour = colours.candidates(of: thread)
        var start = firstFree[colour, default: 0]
        while start < sameColour.count, threads.inFirst(sameColour[start]) >= 0 { start += 1 }
        firstFree[colour] = start
        var found = suitable(sameColour[start...], for: thread, after: parent)
        if found.isEmpty, !colours.areEqual {
            found = suitable(colours.namesakes(of: thread)[...], for: thread, after: parent)
        }
        if found.count > 1, firstChoice == nil, !colours.individuals.contains(thread) { firstChoice = thread }
        return found.first
    }

    /// At most two threads that are not matched yet and have the chain.
    private func suitable(_ candidates: ArraySlice<Int32>, for thread: Int32, after parent: Int32) -> [Int32] {
        var found: [Int32] = []
        for candidate in candidates
        where threads.inFirst(candidate) < 0 && chainInSecond(after: parent, on: candidate) >= 0
            && mayMatchProcesses(of: thread, candidate)
        {
            found.append(candidate)
            if found.count == 2 { break }
        }
        return found
    }

    private func mayMatchProcesses(of thread: Int32, _ threadInSecond: Int32) -> Bool {
        let (process, processInSecond) = (one.process(ofThread: thread), other.process(ofThread: threadInSecond))
        let known = processes.inSecond(process)
        return known >= 0 ? known == processInSecond : processes.inFirst(processInSecond) < 0
    }

    /// True if one of the threads belongs to a truncated process and has no records before the end, not even a name.
    private func isUnknown(_ thread: Int32, _ threadInSecond: Int32) -> Bool {
        func isUnknown(_ thread: Int32, of run: ComparedRun) -> Bool {
            run.threadKeys[Int(thread)] == -1 && !run.chains.isActive[Int(thread)] && run.isTruncated(processOf: thread)
        }
        return allowsTruncation && (isUnknown(thread, of: one) || isUnknown(threadInSecond, of: other))
    }

    private mutating func match(_ thread: Int32, _ threadInSecond: Int32) -> Bool {
        guard thread >= 0, threadInSecond >= 0 else { return thread < 0 && threadInSecond < 0 }
        let known = threads.inSecond(thread)
        if known >= 0 { return known == threadInSecond }
        guard threads.inFirst(threadInSecond) < 0, mayMatchProcesses(of: thread, threadInSecond),
            isExact || colours.mayMatch(thread, threadInSecond) || isUnknown(thread, threadInSecond)
        else { return false }
        _ = processes.match(one.process(ofThread: thread), other.process(ofThread: threadInSecond))
        return threads.match(thread, threadInSecond)
    }

    private mutating func difference(_ entry: Recording.Entry, _ match: Recording.Entry) -> RunDifference.Reason? {
        if isExact, !self.match(entry.thread, match.thread) { return .thread }
        guard entry.stage == match.stage else { return .stage }
        guard one.nameNumber(of: entry) == other.nameNumber(of: match) else { return .name }
        guard posts.match(entry.post, match.post) else { return .post }
        guard observers.match(entry.observer, match.observer) else { return .observer }
        guard self.match(entry.target, match.target) else { return .target }
        guard posts.match(entry.relatedPost, match.relatedPost) else { return .relatedPost }
        // The number of handlers that run during a removal is chance.
        guard entry.count == match.count || entry.stage == .remove else {
            return entry.stage == .post || entry.stage == .capture ? .count : .details
        }
        // Addresses are reused, so only the type of the sender is compared.
        if entry.sender >= 0 || match.sender >= 0 {
            guard one.senderType(of: entry) == other.senderType(of: match) else { return .sender }
        }
        guard entry.overtakes == match.overtakes, entry.style == match.style, entry.policy == match.policy,
            entry.reason == match.reason, one.recording.counters(of: entry) == other.recording.counters(of: match)
        else { return .details }
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
                let isAfterTruncation =
                    (thread < 0 && one.isTruncated(processOf: entry.thread))
                    || (otherThread < 0 && other.isTruncated(processOf: match.thread))
                if allowsTruncation, isAfterTruncation { continue }
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
        let number = Recording.Numbered(process: one.process(ofThread: entry.thread), number: mention.number)
        let otherNumber = Recording.Numbered(
            process: other.process(ofThread: match.thread), number: otherMention.number)
        let (known, otherKnown) = (numbers[number], numbersBack[otherNumber])
        if known == nil, otherKnown == nil {
            numbers[number] = otherMention.number
            numbersBack[otherNumber] = mention.number
            return true
        }
        return known == otherMention.number && otherKnown == mention.number
    }
}

/// A one-to-one mapping between the numbers of two recordings.
struct Renaming {
    private var first: [Int32]
    private var second: [Int32]

    init(_ firstCount: Int, _ secondCount: Int) {
        first = Array(repeating: -1, count: firstCount)
        second = Array(repeating: -1, count: secondCount)
    }

    /// Maps the two numbers to each other. Returns false if one of them is already mapped to another number. -1 matches
    /// only -1.
    mutating func match(_ one: Int32, _ other: Int32) -> Bool {
        guard one >= 0, other >= 0 else { return one < 0 && other < 0 }
        let (known, otherKnown) = (first[Int(one)], second[Int(other)])
        if known < 0, otherKnown < 0 {
            first[Int(one)] = other
            second[Int(other)] = one
            return true
        }
        return known == other
    }

    /// The corresponding number, or -1.
    func inSecond(_ one: Int32) -> Int32 { one < 0 ? -1 : first[Int(one)] }

    /// The corresponding number, or -1.
    func inFirst(_ other: Int32) -> Int32 { other < 0 ? -1 : second[Int(other)] }
}
