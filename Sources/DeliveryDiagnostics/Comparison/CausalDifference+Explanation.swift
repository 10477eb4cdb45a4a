internal import DeliveryRecording
internal import ThreadedNotifications

extension CausalDifference {
    init(
        _ mismatch: CausalWalk.Mismatch, of walk: CausalWalk, between one: ComparedRun, and other: ComparedRun,
        order: CausalComparison.Order
    ) {
        let explainer = Explainer(mismatch: mismatch, walk: walk, one: one, other: other, order: order)
        let (first, second, sentence) = explainer.explanation
        self.init(
            reason: mismatch.reason, first: Side(one.recording, first, reason: mismatch.reason),
            second: Side(other.recording, second, reason: mismatch.reason), explanation: [sentence],
            secondUnmatched: walk.firstUnmatched)
        // Each run numbers its posts, so different records can read the same. Then say what corresponds to what.
        if (first, second) == (mismatch.first, mismatch.second), self.first.text == self.second.text,
            let counterpart = explainer.counterpart
        {
            explanation.append(counterpart)
        }
    }

    /// The names of the runs in sentences.
    static func names(_ first: Recording, _ second: Recording) -> (String, String) {
        first.source == second.source ? ("the first", "the second") : (first.source, second.source)
    }

    /// Creates the difference of two runs that are the same except for how they ended. Nil unless both recordings say
    /// how, and one of them ended by a signal.
    init?(endsOf first: Recording, _ second: Recording) {
        func end(_ recording: Recording) -> Int? { recording.entries.lastIndex { $0.stage == .end } }
        guard let one = end(first), let other = end(second) else { return nil }
        let reasons = [first.entries[one].reason, second.entries[other].reason]
        guard reasons[0] != reasons[1], reasons.contains(where: { $0?.isSignal == true }) else { return nil }
        self.init(
            reason: .end, first: Side(first, one), second: Side(second, other),
            explanation: ["All else is the same, but the runs ended in different ways."])
    }
}

/// Explains a mismatch in a sentence.
private struct Explainer {
    let mismatch: CausalWalk.Mismatch
    let walk: CausalWalk
    let one: ComparedRun
    let other: ComparedRun
    let order: CausalComparison.Order

    /// The outcome in one run of a delivery that the other run has a record of.
    private enum Outcome {
        /// The record is not an outcome, or its post is unknown in the run.
        case unknown
        /// It comes later in the same chain.
        case later(Int)
        case elsewhere(Int)
        case none
    }

    private var names: (String, String) {
        CausalDifference.names(one.recording, other.recording)
    }

    /// The entries to show for both runs, and a sentence. If a delivery happened elsewhere, that delivery is shown for
    /// the other run, because it explains more than the record at the same position.
    var explanation: (first: Int?, second: Int?, sentence: String) {
        let (first, second) = (mismatch.first, mismatch.second)
        guard !order.isExact else { return (first, second, difference) }
        let inSecond = first.map { outcome(of: $0, isForward: true) } ?? .unknown
        let inFirst = second.map { outcome(of: $0, isForward: false) } ?? .unknown
        switch (inSecond, inFirst) {
        case (.later(let later), .later(let earlier)):
            guard let first, let second else { break }
            return (
                first, second,
                "In \(names.0) \(what(first, of: one)) comes before \(what(earlier, of: one)), "
                    + "in \(names.1) \(what(later, of: other)) after \(what(second, of: other))."
            )
        case (.elsewhere(let found), _):
            return (first, found, "In \(names.1) \(what(found, of: other)) \(became(found, of: other)).")
        case (.none, _):
            guard let first else { break }
            return (first, second, sentenceWithoutOutcome(first, isForward: true))
        case (_, .elsewhere(let found)):
            let isOutcome = first.map { one.recording.entries[$0].stage.isOutcome } ?? true
            return (
                isOutcome ? found : first, second, "In \(names.0) \(what(found, of: one)) \(became(found, of: one))."
            )
        case (_, .none):
            guard let second else { break }
            return (first, second, sentenceWithoutOutcome(second, isForward: false))
        case (.unknown, _), (.later, _):
            break
        }
        return (first, second, difference)
    }

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
            })
        else { return .none }
        let chain = run.chains.chainOfEntry[index]
        let counterpart = isForward ? walk.chains.inSecond(chain) : walk.chains.inFirst(chain)
        let isSameStage = entries[found].stage == entry.stage
        return isSameStage && another.chains.chainOfEntry[found] == counterpart ? .later(found) : .elsewhere(found)
    }

    /// Says what corresponds to the thing that differs, if it is known.
    var counterpart: String? {
        guard let first = mismatch.first, let second = mismatch.second else { return nil }
        let (entry, match) = (one.recording.entries[first], other.recording.entries[second])
        switch mismatch.reason {
        case .post:
            return counterpart(\.posts, entry.post, match.post) { $0.describePost($1) }
        case .relatedPost:
            return counterpart(\.posts, entry.relatedPost, match.relatedPost) { $0.describePost($1) }
        case .observer:
            return counterpart(\.observers, entry.observer, match.observer) { $0.describeObserver($1) }
        case .target:
            return counterpart(\.threads, entry.target, match.target) { $0.describeThread($1) }
        case .onlyInFirst, .onlyInSecond, .stage, .name, .thread, .count, .sender, .message, .mention, .end, .truncated:
            return nil
        }
    }

    private func counterpart(
        _ renaming: KeyPath<CausalWalk, TwoWayRenaming>, _ first: Int32, _ second: Int32,
        _ describe: (Recording, Int32) -> String
    ) -> String? {
        let (inSecond, inFirst) = (
            walk[keyPath: renaming].inSecond(first), walk[keyPath: renaming].inFirst(second)
        )
        if inSecond >= 0 {
            let (mine, its) = (describe(one.recording, first), describe(other.recording, inSecond))
            return "\(mine) in \(names.0) corresponds to \(its) in \(names.1)."
        }
        guard inFirst >= 0 else { return nil }
        return "\(describe(other.recording, second)) in \(names.1) "
            + "corresponds to \(describe(one.recording, inFirst)) in \(names.0)."
    }

    /// Describes the difference of the two records alone.
    private var difference: String {
        switch mismatch.reason {
        case .onlyInFirst: return only(mismatch.first, isForward: true)
        case .onlyInSecond: return only(mismatch.second, isForward: false)
        case .stage: return "The stages differ."
        case .name: return "The notifications have different names."
        case .post: return "They are of different posts."
        case .observer: return "They are of different observers."
        case .thread: return "They are on different threads."
        case .target: return "They are for different threads."
        case .relatedPost: return "Their related posts differ."
        case .count: return "They matched different numbers of observers."
        case .sender: return "The senders are of different types."
        case .message: return "The messages differ."
        case .mention: return "The messages mention different threads."
        case .end: return "The runs ended in different ways."
        case .truncated: return "One recording is truncated."
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
}
