internal import DeliveryRecording

/// Explains a mismatch.
struct DifferenceExplainer {
    let mismatch: RunWalk.Mismatch
    let walk: RunWalk
    let one: ComparedRun
    let other: ComparedRun
    let order: ComparisonOrder

    /// The records to show for both runs, a sentence, and the records to remove to find the next difference.
    private typealias Finding = (first: Int?, second: Int?, sentence: String, removed: Removed)
    typealias Removed = (first: [Int], second: [Int])

    /// The outcome in one run of a delivery that the other run has a record of.
    private enum Outcome {
        /// The record is not an outcome, or its post is unknown in the run.
        case unknown
        /// It comes later in the same chain.
        case later(Int)
        case elsewhere(Int)
        case none
    }

    var removed: Removed { finding.removed }

    var difference: RunDifference {
        let finding = finding
        var difference = RunDifference(
            reason: mismatch.reason, first: .init(one, finding.first, reason: mismatch.reason),
            second: .init(other, finding.second, reason: mismatch.reason), explanation: [finding.sentence])
        if !order.namesThreads { (difference.reason, difference.explanation) = logReason(&difference.second) }
        // Each run numbers its posts, so different records can read the same. Then say what corresponds to what.
        if (finding.first, finding.second) == (mismatch.first, mismatch.second),
            difference.first.text == difference.second.text, let counterpart
        {
            difference.explanation.append(counterpart)
        }
        return difference
    }

    private var names: (String, String) { RunDifference.names(one, other) }

    /// If a delivery happened elsewhere, that delivery is shown for the other run, because it explains more than the
    /// record at the same position.
    private var finding: Finding {
        let (first, second) = (mismatch.first, mismatch.second)
        let plain = (first, second, plainSentence, plainlyRemoved)
        guard order == .causal else { return plain }
        let inSecond = first.map { outcome(of: $0, isForward: true) } ?? .unknown
        let inFirst = second.map { outcome(of: $0, isForward: false) } ?? .unknown
        switch (inSecond, inFirst) {
        case (.later(let later), .later(let earlier)):
            guard let first, let second else { return plain }
            return (
                first, second,
                "In \(names.0) \(what(first, of: one)) comes before \(what(earlier, of: one)), "
                    + "in \(names.1) \(what(later, of: other)) after \(what(second, of: other)).",
                ([first, earlier], [second, later])
            )
        case (.elsewhere(let found), _):
            return (
                first, found, "In \(names.1) \(what(found, of: other)) \(became(found, of: other)).",
                (first.map { [$0] } ?? [], [found])
            )
        case (.none, _):
            guard let first else { return plain }
            return (first, second, sentenceWithoutOutcome(first, isForward: true), ([first], []))
        case (_, .elsewhere(let found)):
            let isOutcome = first.map { one.recording.entries[$0].stage.isOutcome } ?? true
            return (
                isOutcome ? found : first, second, "In \(names.0) \(what(found, of: one)) \(became(found, of: one)).",
                isOutcome ? ([found], second.map { [$0] } ?? []) : ([found] + plain.3.first, plain.3.second)
            )
        case (_, .none):
            guard let second else { return plain }
            return (first, second, sentenceWithoutOutcome(second, isForward: false), ([], [second]))
        case (.unknown, _), (.later, _):
            return plain
        }
    }

    // MARK: Deliveries

    /// Names a record's delivery: `#3 for observer 1`.
    private func what(_ index: Int, of run: ComparedRun) -> String {
        let entry = run.recording.entries[index]
        let post = run.recording.describePost(entry.post)
        return entry.observer < 0 ? post : "\(post) for \(run.recording.describeObserver(entry.observer))"
    }

    private func became(_ index: Int, of run: ComparedRun) -> String {
        let entry = run.recording.entries[index]
        let verb =
            switch entry.stage {
            case .coalesce: "was coalesced"
            case .drop: "was dropped"
            case .cancel: "was cancelled"
            case .targetGone: "lost its target thread"
            default: "was delivered"
            }
        return "\(verb) on \(run.recording.describeThread(entry.thread))"
    }

    private func sentenceWithoutOutcome(_ index: Int, isForward: Bool) -> String {
        let (run, another) = isForward ? (one, other) : (other, one)
        let (post, observer) = counterparts(of: run.recording.entries[index], isForward: isForward)
        var subject = another.recording.describePost(post)
        if observer >= 0 { subject += " for \(another.recording.describeObserver(observer))" }
        return "In \(isForward ? names.1 : names.0) \(subject) was not delivered and has no other outcome."
    }

    private func counterparts(of entry: Recording.Entry, isForward: Bool) -> (post: Int32, observer: Int32) {
        isForward
            ? (walk.posts.inSecond(entry.post), walk.observers.inSecond(entry.observer))
            : (walk.posts.inFirst(entry.post), walk.observers.inFirst(entry.observer))
    }

    private func outcome(of index: Int, isForward: Bool) -> Outcome {
        let (run, another) = isForward ? (one, other) : (other, one)
        let entry = run.recording.entries[index]
        guard entry.stage.isOutcome, entry.post >= 0 else { return .unknown }
        let (post, observer) = counterparts(of: entry, isForward: isForward)
        guard post >= 0, observer >= 0 || entry.observer < 0 else { return .unknown }
        let entries = another.recording.entries
        guard
            let found = entries.indices.first(where: {
                entries[$0].post == post && entries[$0].observer == observer && entries[$0].stage.isOutcome
                    && another.chains.chainOfEntry[$0] >= 0
            })
        else { return .none }
        let chain = run.chains.chainOfEntry[index]
        let counterpart = isForward ? walk.chains.inSecond(chain) : walk.chains.inFirst(chain)
        let isSameStage = entries[found].stage == entry.stage
        return isSameStage && another.chains.chainOfEntry[found] == counterpart ? .later(found) : .elsewhere(found)
    }

    // MARK: Records

    /// Says what corresponds to the thing that differs, if it is known.
    private var counterpart: String? {
        guard let first = mismatch.first, let second = mismatch.second else { return nil }
        let (entry, match) = (one.recording.entries[first], other.recording.entries[second])
        return switch mismatch.reason {
        case .post: counterpart(walk.posts, entry.post, match.post) { $0.describePost($1) }
        case .relatedPost: counterpart(walk.posts, entry.relatedPost, match.relatedPost) { $0.describePost($1) }
        case .observer: counterpart(walk.observers, entry.observer, match.observer) { $0.describeObserver($1) }
        case .target: counterpart(walk.threads, entry.target, match.target) { $0.describeThread($1) }
        default: nil
        }
    }

    private func counterpart(
        _ renaming: Renaming, _ first: Int32, _ second: Int32, _ describe: (Recording, Int32) -> String
    ) -> String? {
        let (inSecond, inFirst) = (renaming.inSecond(first), renaming.inFirst(second))
        if inSecond >= 0 {
            let (mine, its) = (describe(one.recording, first), describe(other.recording, inSecond))
            return "\(mine) in \(names.0) corresponds to \(its) in \(names.1)."
        }
        guard inFirst >= 0 else { return nil }
        return "\(describe(other.recording, second)) in \(names.1) "
            + "corresponds to \(describe(one.recording, inFirst)) in \(names.0)."
    }

    /// Describes the difference of the two records alone.
    private var plainSentence: String {
        switch mismatch.reason {
        case .onlyInFirst: only(mismatch.first, isForward: true)
        case .onlyInSecond: only(mismatch.second, isForward: false)
        case .stage: "The stages differ."
        case .name: "The notifications have different names."
        case .post: "They are of different posts."
        case .observer: "They are of different observers."
        case .thread: "They are on different threads."
        case .target: "They are for different threads."
        case .relatedPost: "Their related posts differ."
        case .count: "They matched different numbers of observers."
        case .sender: "The senders are of different types."
        case .message: "The messages differ."
        case .details: "Their details differ."
        case .mention: "The messages mention different threads."
        case .oneEnds, .threadEnds, .process, .end, .truncated: ""
        }
    }

    /// - Parameter isForward: whether the record is from the first run.
    private func only(_ index: Int?, isForward: Bool) -> String {
        guard let index, order == .causal else { return "One run continues where the other ends." }
        let (run, another) = isForward ? (one, other) : (other, one)
        let name = isForward ? names.1 : names.0
        let chain = Int(run.chains.chainOfEntry[index])
        let (thread, parent) = (run.chains.thread[chain], run.chains.parent[chain])
        func counterpart(_ thread: Int32) -> Int32 {
            isForward ? walk.threads.inSecond(thread) : walk.threads.inFirst(thread)
        }
        guard counterpart(thread) >= 0 else {
            let hasSuch = another.threadKeys.contains(run.threadKeys[Int(thread)])
            return "\(name) has no \(hasSuch ? "other " : "")thread "
                + "\(run.threadKeys[Int(thread)] == -1 ? "without a name that does this" : "with this name")."
        }
        let called = another.recording.describeThread(counterpart(thread))
        guard parent >= 0 else { return "In \(name) \(called) does nothing further on its own." }
        let origin = counterpart(run.chains.thread[Int(parent)])
        let sender = origin < 0 ? "this thread" : another.recording.describeThread(origin)
        return "In \(name) \(called) does nothing further that \(sender) handed to it."
    }

    // MARK: Logs

    /// The reason in terms of lines. May choose another line to show for the second log.
    private func logReason(_ second: inout RunDifference.Side) -> (RunDifference.Reason, [String]) {
        switch mismatch.reason {
        case .onlyInFirst:
            guard let unmatched = walk.firstUnmatched() else { break }
            second = RunDifference.Side(other, unmatched)
            // The logs are the same up to here, also in the order of their lines.
            if let first = mismatch.first, first == unmatched { return writers(first, unmatched) }
            let line = second.line == nil ? "" : " Its line above is the first without a counterpart."
            return (.threadEnds, ["No further thread of \(names.1) writes this line.\(line)"])
        case .thread:
            if let first = mismatch.first, let second = mismatch.second { return writers(first, second) }
        case .onlyInSecond: break
        default: return (mismatch.reason, [plainSentence])
        }
        return (.oneEnds, ["One log continues where the other ends."])
    }

    /// The first lines of the threads that write two lines, or of their processes if these differ.
    private func writers(_ first: Int, _ second: Int) -> (RunDifference.Reason, [String]) {
        let thread = (one.recording.entries[first].thread, other.recording.entries[second].thread)
        let process = (one.process(ofThread: thread.0), other.process(ofThread: thread.1))
        let isProcess =
            walk.processes.inSecond(process.0) != process.1
            && (walk.processes.inSecond(process.0) >= 0 || walk.processes.inFirst(process.1) >= 0)
        let word = isProcess ? "process" : "thread"
        func describe(_ run: ComparedRun, before index: Int, _ writer: Int32) -> String {
            let entries = run.recording.entries[..<index]
            let earlier = entries.firstIndex {
                (isProcess ? run.process(ofThread: $0.thread) : $0.thread) == writer && $0.stage == .log
            }
            return earlier.map { "by the \(word) of line \(entries[$0].line)" } ?? "by a \(word) not seen before"
        }
        let words = [
            describe(one, before: first, isProcess ? process.0 : thread.0),
            describe(other, before: second, isProcess ? process.1 : thread.1),
        ]
        return (
            isProcess ? .process : .thread,
            ["In \(names.0) the line is written \(words[0]), in \(names.1) \(words[1])."]
        )
    }

    // MARK: The next difference

    private static let longestGap: Int32 = 64

    /// If one of the records is found a little later in the other chain, the records before it are extra. Otherwise
    /// both records are removed.
    private var plainlyRemoved: Removed {
        guard let first = mismatch.first, let second = mismatch.second else {
            return (mismatch.first.map { [$0] } ?? [], mismatch.second.map { [$0] } ?? [])
        }
        for gap in 1...Self.longestGap {
            if let extra = Self.entries(from: second, count: gap, in: other), isSimilar(first, extra.next) {
                return ([], extra.skipped)
            }
            if let extra = Self.entries(from: first, count: gap, in: one), isSimilar(extra.next, second) {
                return (extra.skipped, [])
            }
        }
        return ([first], [second])
    }

    /// The entries of a chain from one on, and the entry after them; nil if the chain ends before.
    private static func entries(
        from index: Int, count: Int32, in run: ComparedRun
    ) -> (skipped: [Int], next: Int)? {
        let (chain, start) = (run.chains.chainOfEntry[index], run.chains.positionOfEntry[index])
        let next = run.chains.entry(of: chain, at: start + count)
        guard next >= 0 else { return nil }
        return ((0..<count).map { run.chains.entry(of: chain, at: start + $0) }, next)
    }

    /// Returns whether two records have equal values and no other known counterparts.
    private func isSimilar(_ first: Int, _ second: Int) -> Bool {
        let (entry, match) = (one.recording.entries[first], other.recording.entries[second])
        func mayMatch(_ renaming: Renaming, _ first: Int32, _ second: Int32) -> Bool {
            let (inSecond, inFirst) = (renaming.inSecond(first), renaming.inFirst(second))
            return (first < 0) == (second < 0) && (inSecond < 0 ? inFirst < 0 : inSecond == second)
        }
        return entry.stage == match.stage && one.nameNumber(of: entry) == other.nameNumber(of: match)
            && one.messageNumber(of: entry) == other.messageNumber(of: match)
            && mayMatch(walk.posts, entry.post, match.post) && mayMatch(walk.observers, entry.observer, match.observer)
            && (!order.isExact || mayMatch(walk.threads, entry.thread, match.thread))
    }
}

extension RunDifference {
    /// The names of the runs in sentences.
    static func names(_ first: ComparedRun, _ second: ComparedRun) -> (String, String) {
        first.recording.source == second.recording.source
            ? ("the first", "the second") : (first.recording.source, second.recording.source)
    }

    /// Creates the difference of two runs that are the same except for how they ended. Nil unless both recordings say
    /// how, and one of them ended by a signal.
    init?(endsOf first: ComparedRun, _ second: ComparedRun) {
        func end(_ run: ComparedRun) -> Int? { run.recording.entries.lastIndex { $0.stage == .end } }
        guard let one = end(first), let other = end(second) else { return nil }
        let reasons = [first.recording.entries[one].reason, second.recording.entries[other].reason]
        guard reasons[0] != reasons[1], reasons.contains(where: { $0?.isSignal == true }) else { return nil }
        self.init(
            reason: .end, first: Side(first, one), second: Side(second, other),
            explanation: ["All else is the same, but the runs ended in different ways."])
    }

    /// The first records that only one run has, because the other is truncated.
    init(truncated one: ComparedRun, _ first: Int?, _ other: ComparedRun, _ second: Int?, records: Int) {
        func side(_ run: ComparedRun, _ index: Int?) -> Side {
            if let index { return Side(run, index) }
            let last = run.recording.entries.last
            return Side(source: run.recording.source, line: last.map { Int($0.line) }, text: "(no further records)")
        }
        let names = Self.names(one, other)
        let runs = [(one, names.0), (other, names.1)].filter(\.0.isTruncated)
        let subject = runs.count > 1 ? "they are" : "\(runs.map(\.1).joined()) is"
        self.init(
            reason: .truncated, first: side(one, first), second: side(other, second),
            explanation: ["The runs are the same up to where \(subject) truncated: \(counted(records, "record"))."]
                + runs.flatMap { $0.truncationSentences($1) })
    }
}

extension ComparedRun {
    /// A sentence for each truncated process, or one if all of them are truncated in the same way.
    fileprivate func truncationSentences(_ name: String) -> [String] {
        func sentence(_ truncation: Recording.Truncation, _ subject: String) -> String {
            switch truncation {
            case .line: "The last line of \(subject) is incomplete."
            case .lost, .missing, .damaged: "Records of \(subject) are missing."
            case .noEnd: "\(subject) has no end record."
            }
        }
        let isFileOnly = lacksEnd && !truncations.contains { $0 != nil }
        if isFileOnly { return [sentence(.noEnd, name)] }
        return truncations.enumerated().compactMap { process, truncation in
            let subject = truncations.count > 1 ? "process \(recording.processes[process].id) of \(name)" : name
            return truncation.map { sentence($0, subject) }
        }
    }
}
