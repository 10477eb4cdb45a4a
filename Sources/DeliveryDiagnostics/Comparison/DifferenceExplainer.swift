internal import DeliveryRecording
internal import ThreadedNotifications

/// Explains a mismatch.
struct DifferenceExplainer {
    let walk: RunWalk
    let mismatch: RunWalk.Mismatch
    let isExact: Bool
    private var runs: Pair<ComparedRun> { walk.runs }
    private var names: Pair<String> { RunDifference.names(runs) }

    /// The outcome in one run of a delivery that the other run has a record of.
    private enum Outcome {
        /// The record is not an outcome, or its post is unknown in the run.
        case unknown
        /// It comes later in the same chain.
        case later(Int)
        case elsewhere(Int)
        case none
    }

    /// The difference, and the records to remove to find the next one.
    func explain() -> (difference: RunDifference, removed: Pair<[Int]>) {
        if !isExact, let removal { return removal }
        // Each run numbers its posts, so different records can read the same: a counterpart tells them apart.
        let causal = isExact ? nil : causalFinding
        let (shown, sentence, removed) = causal ?? (mismatch.entries, plainSentence, plainlyRemoved)
        let difference = RunDifference(
            reason: mismatch.reason, first: .init(runs.first.index, shown.first),
            second: .init(runs.second.index, shown.second),
            explanation: [sentence] + (causal == nil ? counterpart.map { [$0] } ?? [] : []))
        return (difference, removed)
    }

    /// The records to show, a sentence, and the records to remove.
    private typealias Finding = (shown: Pair<Int?>, sentence: String, removed: Pair<[Int]>)

    // MARK: Removals

    /// The removal of an observer that comes before the mismatch in one run only, and explains it. Nil if there is
    /// none.
    private var removal: (difference: RunDifference, removed: Pair<[Int]>)? {
        for side in RunSide.allCases {
            let (run, other) = (runs[side], runs[side.opposite])
            let limit = mismatch.entries[side].map(Int32.init) ?? .max
            let otherLimit = mismatch.entries[side.opposite].map(Int32.init) ?? .max
            let named = Set(
                RunSide.allCases.compactMap { side in
                    mismatch.entries[side].map { runs[side].nameNumber(of: runs[side].recording.entries[$0]) }
                }.filter { $0 >= 0 })
            let removals = run.index.observers.indices.compactMap { observer -> (removed: Int32, later: Int32)? in
                let removed = run.index.observers[observer].removed
                let counterpart = walk.observers.counterpart(of: Int32(observer), on: side)
                guard removed >= 0, removed <= limit, run.isCompared(removed), counterpart >= 0,
                    isOfObservers(Int32(observer), side),
                    let name = run.index.registration(of: Int32(observer)).map({ run.nameNumber(of: $0) }),
                    name < 0 || named.contains(name)
                else { return nil }
                let later = other.index.observers[Int(counterpart)].removed
                return later < 0 || later > otherLimit ? (removed, later) : nil
            }
            guard let (removed, later) = removals.min(by: { $0.removed < $1.removed }),
                let mismatched = mismatchedRecord(except: removed, side)
            else { continue }
            var (shown, entries) = (Pair<Int?>(nil, nil), Pair<[Int]>([], []))
            (shown[side], entries[side]) = (Int(removed), [Int(removed)])
            if later >= 0 { (shown[side.opposite], entries[side.opposite]) = (Int(later), [Int(later)]) }
            let observer = RecordWords(run.index).observer(run.index.entry(removed).observer)
            let difference = RunDifference(
                reason: .removal, first: .init(runs.first.index, shown.first),
                second: .init(runs.second.index, shown.second),
                explanation: [
                    "In \(names[side]) \(observer) is removed before \(mismatched), in \(names[side.opposite]) "
                        + "\(later < 0 ? "it is not removed" : "after that")."
                ])
            return (difference, entries)
        }
        return nil
    }

    /// True if the runs differ in a record of an observer, or if its run has fewer observers of a post. When another
    /// thread removes an observer is chance, and explains nothing else.
    private func isOfObservers(_ observer: Int32, _ side: RunSide) -> Bool {
        let opposite = side.opposite
        let entry = mismatch.entries[side].map { runs[side].recording.entries[$0] }
        let other = mismatch.entries[opposite].map { runs[opposite].recording.entries[$0] }
        let counterpart = walk.observers.counterpart(of: observer, on: side)
        if entry?.observer == observer || other?.observer == counterpart {
            // The details of a record, such as the reason of the removal, do not follow from it.
            return mismatch.reason != .details
        }
        guard mismatch.reason == .count, let entry, let other else { return false }
        return entry.count < other.count
    }

    /// Names the record that differs and is not the removal: `the post of #1 (line 7 of run.jsonl)`.
    private func mismatchedRecord(except removed: Int32, _ side: RunSide) -> String? {
        let side = mismatch.entries[side].map(Int32.init) == removed ? side.opposite : side
        guard let index = mismatch.entries[side] else { return nil }
        let entry = runs[side].recording.entries[index]
        let observer = entry.observer < 0 ? "" : " of \(runs[side].recording.describeObserver(entry.observer))"
        let subject = entry.post < 0 ? observer : " of \(what(index, side))"
        return "the \(entry.stage.rawValue)\(subject) (line \(entry.line) of \(names[side]))"
    }

    // MARK: Deliveries

    /// If a delivery happened elsewhere, that delivery is shown for the other run, because it explains more than the
    /// record at the same position. Nil if the mismatch is not one of outcomes.
    private var causalFinding: Finding? {
        let entries = mismatch.entries
        let outcomes = Pair(outcome(of: .first), outcome(of: .second))
        if case (.later(let later), .later(let earlier)) = (outcomes.first, outcomes.second),
            let first = entries.first, let second = entries.second
        {
            let sentence =
                "In \(names.first) \(what(first, .first)) comes before \(what(earlier, .first)), "
                + "in \(names.second) \(what(later, .second)) after \(what(second, .second))."
            return (entries, sentence, Pair([first, earlier], [second, later]))
        }
        for side in RunSide.allCases {
            guard let index = entries[side] else { continue }
            let other = side.opposite
            var (shown, removed) = (entries, Pair<[Int]>([], []))
            removed[side] = [index]
            switch outcomes[side] {
            case .elsewhere(let found):
                (shown[other], removed[other]) = (found, [found])
                let entry = runs[other].recording.entries[found]
                let thread = runs[other].recording.describeThread(entry.thread)
                return (
                    shown, "In \(names[other]) \(what(found, other)) \(entry.stage.outcomeWords) on \(thread).", removed
                )
            case .none:
                let (post, observer) = counterparts(of: index, side)
                let subject = describe(post: post, observer: observer, other)
                return (entries, "In \(names[other]) \(subject) was not delivered and has no other outcome.", removed)
            case .later, .unknown:
                continue
            }
        }
        return nil
    }

    /// Names a record's delivery: `#3 for observer 1`.
    private func what(_ index: Int, _ side: RunSide) -> String {
        let entry = runs[side].recording.entries[index]
        return describe(post: entry.post, observer: entry.observer, side)
    }

    private func describe(post: Int32, observer: Int32, _ side: RunSide) -> String {
        let recording = runs[side].recording
        let words = recording.describePost(post)
        return observer < 0 ? words : "\(words) for \(recording.describeObserver(observer))"
    }

    private func counterparts(of index: Int, _ side: RunSide) -> (post: Int32, observer: Int32) {
        let entry = runs[side].recording.entries[index]
        return (
            walk.posts.counterpart(of: entry.post, on: side), walk.observers.counterpart(of: entry.observer, on: side)
        )
    }

    /// The outcome in the other run.
    private func outcome(of side: RunSide) -> Outcome {
        guard let index = mismatch.entries[side] else { return .unknown }
        let (entry, other) = (runs[side].recording.entries[index], runs[side.opposite])
        let (post, observer) = counterparts(of: index, side)
        guard entry.stage.isOutcome, post >= 0, observer >= 0 || entry.observer < 0 else { return .unknown }
        let deliveries = other.index.deliveries(ofPost: post).lazy.map { other.index.deliveries[$0] }
        guard let found = deliveries.first(where: { $0.observer == observer && other.isCompared($0.outcome) })?.outcome
        else { return .none }
        let counterpart = walk.chains.counterpart(of: runs[side].chains.chainOfEntry[index], on: side)
        let isLater =
            other.recording.entries[Int(found)].stage == entry.stage
            && other.chains.chainOfEntry[Int(found)] == counterpart
        return isLater ? .later(Int(found)) : .elsewhere(Int(found))
    }

    // MARK: Records

    /// Says what corresponds to the thing that differs, if it is known.
    private var counterpart: String? {
        typealias Describe = (Recording, Int32) -> String
        func sentence(_ renaming: Renaming, _ key: KeyPath<Recording.Entry, Int32>, _ describe: Describe) -> String? {
            for side in RunSide.allCases {
                guard let index = mismatch.entries[side] else { continue }
                let number = runs[side].recording.entries[index][keyPath: key]
                let counterpart = renaming.counterpart(of: number, on: side)
                guard counterpart >= 0 else { continue }
                return "\(describe(runs[side].recording, number)) in \(names[side]) corresponds to "
                    + "\(describe(runs[side.opposite].recording, counterpart)) in \(names[side.opposite])."
            }
            return nil
        }
        return switch mismatch.reason {
        case .post: sentence(walk.posts, \.post) { $0.describePost($1) }
        case .relatedPost: sentence(walk.posts, \.relatedPost) { $0.describePost($1) }
        case .observer: sentence(walk.observers, \.observer) { $0.describeObserver($1) }
        case .target: "They are for \(target(of: .first)) and \(target(of: .second))."
        default: nil
        }
    }

    /// A number tells threads with the same name apart.
    private func target(of side: RunSide) -> String {
        guard let entry = mismatch.entries[side].map({ runs[side].recording.entries[$0] }), entry.target >= 0 else {
            return "the posting thread in \(names[side])"
        }
        let recording = runs[side].recording
        let identity = recording.threads[Int(entry.target)].identity
        let number = identity.name == nil ? "" : " (thread \(identity.number))"
        return "\(recording.describeThread(entry.target))\(number) in \(names[side])"
    }

    /// Says what one of the runs does not do further; for a difference of two records, what differs.
    private var plainSentence: String {
        guard let side = RunSide.allCases.first(where: { mismatch.entries[$0.opposite] == nil }), !isExact,
            let index = mismatch.entries[side]
        else { return mismatch.reason.sentence }
        let (run, other, name) = (runs[side], runs[side.opposite], names[side.opposite])
        let chain = run.chains.keys[Int(run.chains.chainOfEntry[index])]
        let counterpart = walk.threads.counterpart(of: chain.thread, on: side)
        let key = run.threadKeys[Int(chain.thread)]
        guard counterpart >= 0 else {
            return "\(name) has no \(other.threadKeys.contains(key) ? "other " : "")thread "
                + "\(key == -1 ? "without a name that does this" : "with this name")."
        }
        let thread = other.recording.describeThread(counterpart)
        guard chain.parent >= 0 else { return "In \(name) \(thread) does nothing further on its own." }
        let origin = walk.threads.counterpart(of: run.chains.keys[Int(chain.parent)].thread, on: side)
        let poster = origin < 0 ? "this thread" : other.recording.describeThread(origin)
        return "In \(name) \(thread) does nothing further that \(poster) handed to it."
    }

    // MARK: The next difference

    private static let longestGap: Int32 = 64

    /// If one of the records is found a little later in the other chain, the records before it are extra. Otherwise
    /// both records are removed.
    private var plainlyRemoved: Pair<[Int]> {
        guard let first = mismatch.entries.first, let second = mismatch.entries.second else {
            return mismatch.entries.map { $0.map { [$0] } ?? [] }
        }
        let entries = Pair(first, second)
        for gap in 1...Self.longestGap {
            for side in [RunSide.second, .first] {
                let chains = runs[side].chains
                let (chain, start) = (chains.chainOfEntry[entries[side]], chains.positionOfEntry[entries[side]])
                var next = entries
                next[side] = chains.entry(of: chain, at: start + gap)
                guard next[side] >= 0, areSimilar(next) else { continue }
                var removed = Pair<[Int]>([], [])
                removed[side] = (start..<start + gap).map { chains.entry(of: chain, at: $0) }
                return removed
            }
        }
        return entries.map { [$0] }
    }

    /// Returns whether two records have equal values and no other known counterparts.
    private func areSimilar(_ entries: Pair<Int>) -> Bool {
        let entry = runs.first.recording.entries[entries.first]
        let match = runs.second.recording.entries[entries.second]
        return entry.stage == match.stage && runs.first.nameNumber(of: entry) == runs.second.nameNumber(of: match)
            && runs.first.messageNumber(of: entry) == runs.second.messageNumber(of: match)
            && walk.posts.mayMatch(entry.post, match.post) && walk.observers.mayMatch(entry.observer, match.observer)
            && (!isExact || walk.threads.mayMatch(entry.thread, match.thread))
    }
}

extension DeliveryStage {
    fileprivate var outcomeWords: String {
        switch self {
        case .coalesce: "was coalesced"
        case .drop: "was dropped"
        case .cancel: "was cancelled"
        case .targetGone: "lost its target thread"
        default: "was delivered"
        }
    }
}
