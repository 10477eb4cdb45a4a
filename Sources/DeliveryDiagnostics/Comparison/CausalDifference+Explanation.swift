internal import ThreadedNotifications

extension CausalDifference {
    init(
        _ mismatch: CausalWalk.Mismatch, of walk: CausalWalk, between one: ComparedRun, and other: ComparedRun,
        order: CausalComparison.Order
    ) {
        let explainer = Explainer(mismatch: mismatch, walk: walk, one: one, other: other, order: order)
        self.init(
            reason: mismatch.reason, first: Side(one.recording, mismatch.first),
            second: Side(other.recording, mismatch.second), explanation: explainer.explanation,
            secondUnmatched: walk.firstUnmatched)
    }

    /// Runs that are the same but for how they ended, if both tell it: one by a signal and the other not, or by another.
    init?(endsOf first: Recording, _ second: Recording) {
        func end(_ recording: Recording) -> Int? { recording.entries.lastIndex { $0.stage == .end } }
        guard let one = end(first), let other = end(second) else { return nil }
        let messages = [first.message(of: first.entries[one]) ?? "", second.message(of: second.entries[other]) ?? ""]
        guard messages[0] != messages[1], messages.contains(where: { $0.hasPrefix("signal") }) else { return nil }
        self.init(
            reason: .end, first: Side(first, one), second: Side(second, other),
            explanation: ["All else is the same, but the runs ended in different ways."])
    }
}

/// Says what a mismatch means.
private struct Explainer {
    let mismatch: CausalWalk.Mismatch
    let walk: CausalWalk
    let one: ComparedRun
    let other: ComparedRun
    let order: CausalComparison.Order

    /// What became in a run of what another run has a record of.
    private enum Fate {
        /// The record is of no post's fate, or its post is not known in the run.
        case unknown
        /// It comes later in the chain in which it is looked for.
        case later(Int)
        case elsewhere(Int)
        case none
    }

    private var names: (String, String) {
        let (first, second) = (one.recording.source, other.recording.source)
        return first == second ? ("the first", "the second") : (first, second)
    }

    var explanation: [String] {
        guard !order.isExact else { return [difference] }
        let inSecond = mismatch.first.map { fate(of: $0, of: one, in: other, isForward: true) } ?? .unknown
        let inFirst = mismatch.second.map { fate(of: $0, of: other, in: one, isForward: false) } ?? .unknown
        switch (inSecond, inFirst) {
        case (.later(let later), .later(let earlier)):
            guard let first = mismatch.first, let second = mismatch.second else { return [difference] }
            return [
                "In \(names.0) \(what(first, of: one)) comes before \(what(earlier, of: one)), "
                    + "in \(names.1) \(what(later, of: other)) after \(what(second, of: other))."
            ]
        case (.none, _), (.elsewhere, _):
            guard let first = mismatch.first else { return [difference] }
            return [sentence(inSecond, of: first, of: one, in: other, named: names.1)]
        case (_, .none), (_, .elsewhere):
            guard let second = mismatch.second else { return [difference] }
            return [sentence(inFirst, of: second, of: other, in: one, named: names.0)]
        case (.unknown, _), (.later, _):
            return [difference]
        }
    }

    /// What a record's delivery is called: `#3 for observer 1`.
    private func what(_ place: Int, of run: ComparedRun) -> String {
        let entry = run.recording.entries[place]
        let post = run.recording.describePost(entry.post)
        return entry.observer < 0 ? post : "\(post) for \(run.recording.describeObserver(entry.observer))"
    }

    private func sentence(
        _ fate: Fate, of place: Int, of run: ComparedRun, in another: ComparedRun, named name: String
    ) -> String {
        let entry = run.recording.entries[place]
        let (post, observer) = counterparts(of: entry, isForward: run.recording.source == one.recording.source)
        var subject = another.recording.describePost(post)
        if observer >= 0 { subject += " for \(another.recording.describeObserver(observer))" }
        switch fate {
        case .elsewhere(let found):
            let other = another.recording.entries[found]
            let verb =
                switch other.stage {
                case .coalesce: "was coalesced"
                case .drop: "was dropped"
                case .cancel: "was cancelled"
                case .targetGone: "found its target gone"
                default: "was delivered"
                }
            return "In \(name) \(subject) \(verb) on \(another.recording.describeThread(other.thread)) "
                + "(line \(other.line))."
        case .none, .unknown, .later:
            return "In \(name) \(subject) was not delivered, and met no other fate."
        }
    }

    private func counterparts(of entry: Recording.Entry, isForward: Bool) -> (post: Int32, observer: Int32) {
        isForward
            ? (walk.posts.inSecond(entry.post), walk.observers.inSecond(entry.observer))
            : (walk.posts.inFirst(entry.post), walk.observers.inFirst(entry.observer))
    }

    private func fate(of place: Int, of run: ComparedRun, in another: ComparedRun, isForward: Bool) -> Fate {
        let entry = run.recording.entries[place]
        guard entry.stage.isFate, entry.post >= 0 else { return .unknown }
        let (post, observer) = counterparts(of: entry, isForward: isForward)
        guard post >= 0, observer >= 0 || entry.observer < 0 else { return .unknown }
        let entries = another.recording.entries
        guard
            let found = entries.indices.first(where: {
                entries[$0].post == post && entries[$0].observer == observer && entries[$0].stage.isFate
            })
        else { return .none }
        let chain = run.chains.chainOfEntry[place]
        let counterpart = isForward ? walk.chains.inSecond(chain) : walk.chains.inFirst(chain)
        let isSameStage = entries[found].stage == entry.stage
        return isSameStage && another.chains.chainOfEntry[found] == counterpart ? .later(found) : .elsewhere(found)
    }

    /// What is different of the two records, without regard to others.
    private var difference: String {
        let (first, second) = names
        switch mismatch.reason {
        case .onlyInFirst: return only(in: one, of: mismatch.first, notIn: second)
        case .onlyInSecond: return only(in: other, of: mismatch.second, notIn: first)
        case .stage: return "Different things happen."
        case .name: return "The notifications have different names."
        case .post: return "They are of different posts."
        case .observer: return "They are of different observers."
        case .thread: return "They are by different threads."
        case .target: return "They are for different threads."
        case .relatedPost: return "Different posts stand for them."
        case .count: return "Different numbers of observers match."
        case .sender: return "The senders are of different types."
        case .message: return "The messages differ."
        case .mention: return "The messages speak of different threads."
        case .end: return "The runs ended in different ways."
        }
    }

    private func only(in run: ComparedRun, of place: Int?, notIn name: String) -> String {
        guard let place, order == .causal else { return "One run goes on where the other ends." }
        let chain = Int(run.chains.chainOfEntry[place])
        let thread = run.recording.describeThread(run.chains.thread[chain])
        let parent = run.chains.parent[chain]
        guard parent >= 0 else { return "In \(name) \(thread) does nothing like it." }
        let origin = run.recording.describeThread(run.chains.thread[Int(parent)])
        return "In \(name) \(thread) does nothing like it because of what \(origin) posted."
    }
}
