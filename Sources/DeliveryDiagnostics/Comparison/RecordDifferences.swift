internal import DeliveryRecording
internal import ThreadedNotifications

/// Says in sentences what the differences of two recordings are.
struct RecordDifferences {
    let matching: LaneMatching
    let recordings: Pair<ComparedRecording>
    let names: Pair<String>
    private let places: Pair<[Work: Set<Int>]>

    /// A difference in sentences, the lines that are shown, and those that it explains.
    private struct Finding {
        var reason: RunDifference.Reason
        var shown: Pair<Int32?>
        var sentences: [String]
        var explained = Pair<[Int32?]>([], [])
        /// True if only the place tells what differs.
        var isPlain = false
        /// Much of what differs otherwise follows from work on another thread.
        var isOfThread = false
    }

    init(_ matching: LaneMatching, _ recordings: Pair<ComparedRecording>) {
        (self.matching, self.recordings) = (matching, recordings)
        names = RunDifference.names(recordings.map(\.recording.source))
        places = recordings.map { recording in
            recording.run.lines.indices.reduce(into: [:]) { places, line in
                guard recording.run.isCompared(Int32(line)), let (work, thread) = Work.of(Int32(line), recording) else {
                    return
                }
                places[work, default: []].insert(recording.label(thread))
            }
        }
    }

    /// Those of work on other threads first, each thread and name once.
    func found(_ maximum: Int) -> [RunDifference] {
        var (explained, places) = (Pair<Set<Int32>>([], []), Set<[Int32?]>())
        var (ofThreads, others) = ([Finding](), [Finding]())
        for difference in matching.differences {
            let lines = difference.lines
            let isExplained = RunSide.allCases.allSatisfy { side in
                lines[side].map(explained[side].contains) ?? true
            }
            if isExplained { continue }
            let finding = explain(difference)
            for side in RunSide.allCases {
                explained[side].formUnion((finding.explained[side] + [lines[side]]).compactMap(\.self))
            }
            // Of several records in one place, the first is shown.
            if finding.isPlain, !places.insert([difference.next.first, difference.next.second]).inserted { continue }
            if !finding.isOfThread {
                others.append(finding)
            } else if !ofThreads.contains(where: { $0.sentences == finding.sentences }) {
                ofThreads.append(finding)
            }
        }
        return (ofThreads + others).prefix(maximum).map { difference($0.reason, $0.shown, $0.sentences) }
    }

    func difference(
        _ reason: RunDifference.Reason, _ lines: Pair<Int32?>, _ sentences: [String]
    ) -> RunDifference {
        func side(_ side: RunSide) -> RunDifference.Side { .init(recordings[side].index, lines[side].map(Int.init)) }
        return RunDifference(reason: reason, first: side(.first), second: side(.second), explanation: sentences)
    }

    func entry(_ line: Int32, _ side: RunSide) -> Recording.Entry { recordings[side].index.entry(line) }

    private func explain(_ difference: LaneMatching.Difference) -> Finding {
        if let finding = otherThread(difference.lines) { return finding }
        let (lines, next) = (difference.lines, difference.next)
        // A line of one run only is shown with the record that the other run has there.
        let shown =
            difference.isMoved && matching.isSameLane(lines)
            ? next : Pair(lines.first ?? next.first, lines.second ?? next.second)
        let isFirst = RunSide.allCases.contains { lines[$0] != nil && lines[$0] == next[$0] }
        let place = isFirst ? Pair(next.first ?? lines.first, next.second ?? lines.second) : shown
        if let finding = removal(place) ?? order(shown) ?? outcome(shown, lines) { return finding }
        let reason = reason(shown)
        let sentences = [plainSentence(shown, reason), counterpart(shown, reason)].compactMap(\.self)
        return Finding(reason: reason, shown: shown, sentences: sentences, isPlain: true)
    }

    // MARK: Threads

    /// Work of a run on some threads: a stage, and the text of a name or message.
    private struct Work: Hashable {
        var stage: DeliveryStage
        var text: String

        /// The work of a record, and the thread that it belongs to. A block has no name, and another one may be anything
        /// else.
        static func of(_ line: Int32, _ recording: ComparedRecording) -> (Work, thread: Int32)? {
            let (entry, posts) = (recording.index.entry(line), recording.index.posts)
            let isLog = entry.stage == .log
            guard let text = isLog ? recording.recording.message(of: entry) : recording.recording.name(of: entry) else {
                return nil
            }
            var work = Work(stage: entry.stage, text: MessagePart.withoutThreads(text).skeleton)
            switch entry.stage {
            case .register: return (work, entry.target)
            // The post of a posting queue is made by the queue.
            case .post where entry.post >= 0 && posts[Int(entry.post)].enqueued >= 0: return nil
            case .enqueue: work.stage = .post
            case .deliver, .log, .post: break
            default: return nil
            }
            return (work, entry.thread)
        }
    }

    /// An observer, a post, a handler or a message that belongs to another thread in the other run.
    private func otherThread(_ lines: Pair<Int32?>) -> Finding? {
        var lines = lines
        for side in RunSide.allCases {
            // An `append` stands for its handler.
            guard let line = lines[side], let delivery = delivery(line, side),
                let handled = matching.runs[side].outcomeOfDelivery[delivery]
            else { continue }
            lines[side] = handled
            if lines[side.opposite] == nil { lines[side.opposite] = outcome(of: handled, side) ?? nil }
        }
        guard let first = lines.first, let second = lines.second,
            let (work, thread) = Work.of(first, recordings.first),
            let (otherWork, other) = Work.of(second, recordings.second), work == otherWork,
            recordings.first.label(thread) != recordings.second.label(other),
            let own = places.first[work], let others = places.second[work], !own.isSubset(of: others),
            !others.isSubset(of: own)
        else { return nil }
        let name = RecordWords(recordings.first.index).name(entry(first, .first).name)
        let (subject, preposition) =
            switch work.stage {
            case .register: ("The observer of \(name) is", "for")
            case .post: ("\(name) is posted", "by")
            case .deliver: ("\(name) is handled", "on")
            default: ("The message is logged", "on")
            }
        func words(_ thread: Int32, _ side: RunSide) -> String {
            let words = thread < 0 ? "the posting thread" : RecordWords(recordings[side].index).thread(thread)
            return "\(preposition) \(words) in \(names[side])"
        }
        return Finding(
            reason: work.stage == .register ? .target : .thread, shown: lines,
            sentences: ["\(subject) \(words(thread, .first)), \(words(other, .second))."],
            explained: lines.map { [$0] }, isOfThread: true)
    }

    // MARK: Removals

    /// The removal of an observer that comes before the difference in one run only, and explains it.
    private func removal(_ shown: Pair<Int32?>) -> Finding? {
        for side in RunSide.allCases {
            let (index, other) = (recordings[side].index, recordings[side.opposite])
            let removals = index.observers.indices.compactMap { observer -> (removed: Int32, later: Int32)? in
                let removed = index.observers[observer].removed
                let name = recordings[side].observerName(Int32(observer))
                let counterpart = other.observer(matching.renaming.counterpart(of: name, on: side))
                guard removed >= 0, removed <= shown[side] ?? .max, matching.runs[side].isCompared(removed),
                    counterpart >= 0, isOfObserver(Int32(observer), counterpart, side, shown)
                else { return nil }
                let later = other.index.observers[Int(counterpart)].removed
                return later < 0 || later > shown[side.opposite] ?? .max ? (removed, later) : nil
            }
            guard let (removed, later) = removals.min(by: { $0.removed < $1.removed }) else { continue }
            let subjectSide = shown[side] == removed ? side.opposite : side
            guard let line = shown[subjectSide] else { continue }
            let observer = RecordWords(index).observer(index.entry(removed).observer)
            let sentence =
                "In \(names[side]) \(observer) is removed before \(subject(line, subjectSide)), in \(names[side.opposite]) "
                + "\(later < 0 ? "it is not removed" : "after that")."
            let pair = Pair<Int32?>(side, removed, later < 0 ? nil : later)
            return Finding(reason: .removal, shown: pair, sentences: [sentence], explained: pair.map { [$0] })
        }
        return nil
    }

    /// True if the runs differ in a record of an observer, or if its run has fewer observers of a post with its name. When
    /// another thread removes an observer is chance, and explains nothing else.
    private func isOfObserver(_ observer: Int32, _ counterpart: Int32, _ side: RunSide, _ shown: Pair<Int32?>) -> Bool {
        let own = shown[side].map { entry($0, side) }
        let other = shown[side.opposite].map { entry($0, side.opposite) }
        guard let registration = recordings[side].index.registration(of: observer) else { return false }
        let reason = reason(shown)
        // The details of a record, such as the reason of the removal, do not follow from it.
        if own?.observer == observer || other?.observer == counterpart { return reason != .details }
        guard reason == .count, let own, let other else { return false }
        return own.count < other.count && (registration.name < 0 || registration.name == own.name)
    }

    /// For example `the post of #1 (line 7 of run.jsonl)`.
    private func subject(_ line: Int32, _ side: RunSide) -> String {
        let (entry, recording) = (entry(line, side), recordings[side])
        let what = [recording.postName(entry.post), recording.observerName(entry.observer)].filter { $0 >= 0 }
            .map(recording.words).joined(separator: " for ")
        return "the \(entry.stage.rawValue)\(what.isEmpty ? "" : " of \(what)") (line \(entry.line) of \(names[side]))"
    }

    // MARK: Outcomes

    /// Two deliveries in another order.
    private func order(_ shown: Pair<Int32?>) -> Finding? {
        guard let first = shown.first, let second = shown.second, let later = outcome(of: first, .first) ?? nil,
            let earlier = outcome(of: second, .second) ?? nil, later != second,
            matching.isSameLane(Pair(first, later)), matching.isSameLane(Pair(earlier, second))
        else { return nil }
        func words(_ line: Int32, _ side: RunSide) -> String { delivery(line, side).map { self.words($0, side) } ?? "" }
        return Finding(
            reason: reason(shown), shown: shown,
            sentences: [
                "In \(names.first) \(words(first, .first)) comes before \(words(earlier, .first)), "
                    + "in \(names.second) \(words(later, .second)) after \(words(second, .second))."
            ], explained: Pair([first, earlier], [later, second]))
    }

    /// If a delivery happened elsewhere, that delivery is shown for the other run, because it explains more than the
    /// record at the same place.
    private func outcome(_ shown: Pair<Int32?>, _ lines: Pair<Int32?>) -> Finding? {
        for side in RunSide.allCases {
            let other = side.opposite
            guard let line = lines[side], let found = outcome(of: line, side),
                lines[other] != found || !matching.isSameLane(lines),
                let delivery = delivery(line, side)
            else { continue }
            let subject = words(matching.renaming.counterpart(of: delivery, on: side), other)
            var finding = Finding(reason: reason(shown), shown: shown, sentences: [])
            if let found {
                (finding.shown[other], finding.explained[other]) = (found, [found])
                let thread = recordings[other].recording.describeThread(entry(found, other).thread)
                let words = Self.outcomeWords[entry(found, other).stage] ?? "was delivered"
                finding.sentences = ["In \(names[other]) \(subject) \(words) on \(thread)."]
            } else {
                finding.sentences = ["In \(names[other]) \(subject) was not delivered and has no other outcome."]
            }
            return finding
        }
        return nil
    }

    private static let outcomeWords: [DeliveryStage: String] = [
        .coalesce: "was coalesced", .drop: "was dropped", .cancel: "was cancelled",
        .targetGone: "lost its target thread",
    ]

    /// The outcome in the other run of an outcome: nil inside if there is none; nil if the line is no outcome, or its post
    /// is unknown there.
    private func outcome(of line: Int32, _ side: RunSide) -> Int32?? {
        guard entry(line, side).stage.isOutcome, let delivery = delivery(line, side) else { return .none }
        let counterpart = matching.renaming.counterpart(of: delivery, on: side)
        guard counterpart.post >= 0, counterpart.observer >= 0 || delivery.observer < 0 else { return .none }
        return .some(matching.runs[side.opposite].outcomeOfDelivery[counterpart])
    }

    /// The delivery of an `append` or an outcome.
    private func delivery(_ line: Int32, _ side: RunSide) -> ComparedRun.Delivery? {
        let entry = entry(line, side)
        guard entry.stage == .append || entry.stage.isOutcome, entry.post >= 0 else { return nil }
        return .init(
            post: recordings[side].postName(entry.post), observer: recordings[side].observerName(entry.observer))
    }

    /// For example `#3 for observer 1`.
    private func words(_ delivery: ComparedRun.Delivery, _ side: RunSide) -> String {
        let observer = delivery.observer < 0 ? "" : " for \(recordings[side].words(delivery.observer))"
        return recordings[side].words(delivery.post) + observer
    }
}
