internal import DeliveryRecording
internal import ThreadedNotifications

/// Says in sentences what the differences of two recordings are.
struct RecordDifferences {
    let matching: LaneMatching
    let recordings: Pair<ComparedRecording>
    let names: Pair<String>
    let isExact: Bool
    private let places: Pair<[Work: Set<Int>]>

    /// What a run does on some threads.
    private struct Work: Hashable {
        var stage: DeliveryStage
        /// The number of the name or message.
        var text: Int
    }

    /// What is shown of a difference, and the lines that it explains.
    private struct Finding {
        var reason: RunDifference.Reason
        var shown: Pair<Int32?>
        var sentences: [String]
        var lines: Pair<[Int32]>
        /// True if only the place tells what differs.
        var isPlain = false
        /// Much of what differs otherwise follows from work on another thread.
        var isOfThread = false
    }

    init(_ matching: LaneMatching, _ recordings: Pair<ComparedRecording>, isExact: Bool) {
        (self.matching, self.recordings, self.isExact) = (matching, recordings, isExact)
        names = RunDifference.names(recordings.map(\.recording.source))
        places = recordings.map(Self.places)
    }

    /// Those of work on other threads first, each thread and name once.
    func found(_ maximum: Int) -> [RunDifference] {
        var (explained, plain) = (Pair<Set<Int32>>([], []), Set<[Int32?]>())
        var (ofThreads, others) = ([Finding](), [Finding]())
        for difference in matching.differences {
            let lines = difference.lines
            let isNew = RunSide.allCases.contains { side in lines[side].map { !explained[side].contains($0) } ?? false }
            guard isNew, ofThreads.count + others.count < maximum || !isExact else { continue }
            let finding = explain(difference)
            // Of several records in one place, the first is shown.
            if finding.isPlain, !plain.insert([difference.next.first, difference.next.second]).inserted { continue }
            for side in RunSide.allCases {
                explained[side].formUnion(finding.lines[side] + [lines[side]].compactMap(\.self))
            }
            if !finding.isOfThread {
                others.append(finding)
            } else if !ofThreads.contains(where: { $0.sentences == finding.sentences }) {
                ofThreads.append(finding)
            }
        }
        return (ofThreads + others).prefix(maximum).map { finding in
            RunDifference(
                reason: finding.reason, first: side(.first, finding.shown.first),
                second: side(.second, finding.shown.second), explanation: finding.sentences)
        }
    }

    func side(_ side: RunSide, _ line: Int32?) -> RunDifference.Side {
        RunDifference.Side(recordings[side].index, line.map(Int.init))
    }

    private func entry(_ line: Int32, _ side: RunSide) -> Recording.Entry { recordings[side].index.entry(line) }

    private func explain(_ difference: LaneMatching.Difference) -> Finding {
        if !isExact, let finding = otherThread(difference) { return finding }
        let isInOrder = difference.isMoved && isSameLane(difference.lines)
        let (lines, next) = (difference.lines, difference.next)
        // A line of one run only is shown with the record that the other run has there.
        let shown = isInOrder ? next : Pair(lines.first ?? next.first, lines.second ?? next.second)
        let isFirst = RunSide.allCases.contains { lines[$0] != nil && lines[$0] == next[$0] }
        let place = isFirst ? Pair(next.first ?? lines.first, next.second ?? lines.second) : shown
        if !isExact, let finding = removal(place) ?? outcome(shown, lines) { return finding }
        let reason = reason(shown)
        return Finding(
            reason: reason, shown: shown,
            sentences: [plainSentence(shown, reason)] + [counterpart(shown, reason)].compactMap(\.self),
            lines: Pair([], []), isPlain: true)
    }

    private func isSameLane(_ lines: Pair<Int32?>) -> Bool {
        guard let first = lines.first, let second = lines.second else { return false }
        let lanes = Pair(matching.runs.first.lines[Int(first)].lane, matching.runs.second.lines[Int(second)].lane)
        return matching.counterparts.first[Int(lanes.first)] == lanes.second
    }

    // MARK: Threads

    private static func places(_ recording: ComparedRecording) -> [Work: Set<Int>] {
        var places: [Work: Set<Int>] = [:]
        for line in recording.run.lines.indices.map(Int32.init) {
            guard recording.run.isCompared(line), let (work, thread) = work(line, recording) else { continue }
            places[work, default: []].insert(recording.threadLabel(recording.threadName(thread)))
        }
        return places
    }

    /// What a record does, and the thread that it belongs to.
    private static func work(_ line: Int32, _ recording: ComparedRecording) -> (Work, thread: Int32)? {
        let entry = recording.index.entry(line)
        var stage = entry.stage
        switch stage {
        case .register, .deliver, .log: break
        // The post of a posting queue is made by the queue.
        case .post where entry.post < 0 || recording.index.posts[Int(entry.post)].enqueued < 0: break
        case .enqueue: stage = .post
        default: return nil
        }
        // A block has no name, and another one may be anything else.
        guard let text = stage == .log ? recording.recording.message(of: entry).map({ MessagePart.withoutThreads($0).skeleton }) : recording.recording.name(of: entry)
        else { return nil }
        return (Work(stage: stage, text: ComparedRun.hash(text)), stage == .register ? entry.target : entry.thread)
    }

    /// An observer, a post, a handler or a message that belongs to another thread in the other run.
    private func otherThread(_ difference: LaneMatching.Difference) -> Finding? {
        var lines = difference.lines
        for side in RunSide.allCases {
            guard let line = lines[side], let handled = handled(line, side) else { continue }
            lines[side] = handled
            if lines[side.opposite] == nil { lines[side.opposite] = outcome(of: handled, side).flatMap(\.self) }
        }
        guard let first = lines.first, let second = lines.second,
            let (work, thread) = Self.work(first, recordings.first),
            let (otherWork, other) = Self.work(second, recordings.second), work == otherWork,
            let (places, others) = (places.first[work], places.second[work]) as? (Set<Int>, Set<Int>),
            !places.isSubset(of: others), !others.isSubset(of: places)
        else { return nil }
        let labels = (recordings.first.threadLabel(recordings.first.threadName(thread)), recordings.second.threadLabel(recordings.second.threadName(other)))
        guard labels.0 != labels.1 else { return nil }
        let name = RecordWords(recordings.first.index).name(entry(first, .first).name)
        let (subject, preposition) =
            switch work.stage {
            case .register: ("The observer of \(name) is", "for")
            case .post: ("\(name) is posted", "by")
            case .deliver: ("\(name) is handled", "on")
            default: ("The message is logged", "on")
            }
        let words = Pair((RunSide.first, thread), (.second, other)).map { side, thread in
            let words = thread < 0 ? "the posting thread" : RecordWords(recordings[side].index).thread(thread)
            return "\(preposition) \(words) in \(names[side])"
        }
        return Finding(
            reason: work.stage == .register ? .target : .thread, shown: Pair(first, second),
            sentences: ["\(subject) \(words.first), \(words.second)."], lines: Pair([first], [second]),
            isOfThread: true)
    }

    /// The handler of an `append`, or of its own.
    private func handled(_ line: Int32, _ side: RunSide) -> Int32? {
        let entry = entry(line, side)
        guard entry.stage == .append || entry.stage == .deliver else { return nil }
        let delivery = ComparedRun.Delivery(
            post: recordings[side].postName(entry.post), observer: recordings[side].observerName(entry.observer))
        return matching.runs[side].outcomeOfDelivery[delivery]
    }

    // MARK: Removals

    /// The removal of an observer that comes before the difference in one run only, and explains it.
    private func removal(_ shown: Pair<Int32?>) -> Finding? {
        let named = Set(
            RunSide.allCases.compactMap { side in
                shown[side].flatMap { recordings[side].recording.name(of: entry($0, side)) }
            })
        for side in RunSide.allCases {
            let (index, other) = (recordings[side].index, recordings[side.opposite])
            let removals = index.observers.indices.compactMap { observer -> (removed: Int32, later: Int32)? in
                let removed = index.observers[observer].removed
                let counterpart = counterpart(observer: Int32(observer), side)
                guard removed >= 0, removed <= shown[side] ?? .max, matching.runs[side].isCompared(removed),
                    counterpart >= 0, isOfObserver(Int32(observer), counterpart, side, shown),
                    let registration = index.registration(of: Int32(observer)),
                    index.recording.name(of: registration).map(named.contains) ?? true
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
            var pair = Pair<Int32?>(removed, later < 0 ? nil : later)
            if side == .second { pair = pair.reversed }
            return Finding(
                reason: .removal, shown: pair, sentences: [sentence],
                lines: pair.map { [$0].compactMap(\.self) })
        }
        return nil
    }

    private func counterpart(observer: Int32, _ side: RunSide) -> Int32 {
        let name = recordings[side].observerName(observer)
        return recordings[side.opposite].observer(matching.renaming.counterpart(of: name, on: side))
    }

    /// True if the runs differ in a record of an observer, or if its run has fewer observers of a post. When another
    /// thread removes an observer is chance, and explains nothing else.
    private func isOfObserver(_ observer: Int32, _ counterpart: Int32, _ side: RunSide, _ shown: Pair<Int32?>) -> Bool {
        let own = shown[side].map { entry($0, side) }
        let other = shown[side.opposite].map { entry($0, side.opposite) }
        let reason = reason(shown)
        // The details of a record, such as the reason of the removal, do not follow from it.
        if own?.observer == observer || other?.observer == counterpart { return reason != .details }
        guard reason == .count, let own, let other else { return false }
        return own.count < other.count
    }

    /// For example `the post of #1 (line 7 of run.jsonl)`.
    private func subject(_ line: Int32, _ side: RunSide) -> String {
        let entry = entry(line, side)
        let observer = entry.observer < 0 ? "" : " of \(recordings[side].recording.describeObserver(entry.observer))"
        let subject = entry.post < 0 ? observer : " of \(delivery(line, side))"
        return "the \(entry.stage.rawValue)\(subject) (line \(entry.line) of \(names[side]))"
    }

    // MARK: Outcomes

    /// If a delivery happened elsewhere, that delivery is shown for the other run, because it explains more than the
    /// record at the same place.
    private func outcome(_ shown: Pair<Int32?>, _ lines: Pair<Int32?>) -> Finding? {
        if let first = shown.first, let second = shown.second, let later = outcome(of: first, .first) ?? nil,
            let earlier = outcome(of: second, .second) ?? nil, isSameLane(Pair(first, later)),
            isSameLane(Pair(earlier, second)), later != second
        {
            let sentence =
                "In \(names.first) \(delivery(first, .first)) comes before \(delivery(earlier, .first)), "
                + "in \(names.second) \(delivery(later, .second)) after \(delivery(second, .second))."
            return Finding(
                reason: reason(shown), shown: shown, sentences: [sentence],
                lines: Pair([first, earlier], [later, second]))
        }
        for side in RunSide.allCases {
            guard let line = lines[side], let found = outcome(of: line, side) else { continue }
            let other = side.opposite
            guard let found else {
                let (post, observer) = counterparts(line, side)
                let subject = describe(other, post, observer)
                return Finding(
                    reason: reason(shown), shown: shown,
                    sentences: ["In \(names[other]) \(subject) was not delivered and has no other outcome."],
                    lines: Pair([], []))
            }
            if lines[other] == found { continue }
            var pair = shown
            pair[other] = found
            let outcome = entry(found, other)
            let thread = recordings[other].recording.describeThread(outcome.thread)
            var explained = Pair<[Int32]>([], [])
            explained[other] = [found]
            return Finding(
                reason: reason(shown), shown: pair,
                sentences: ["In \(names[other]) \(delivery(found, other)) \(outcome.stage.outcomeWords) on \(thread)."],
                lines: explained)
        }
        return nil
    }

    /// The outcome in the other run of an outcome: nil inside if there is none; nil if the line is no outcome, or its post
    /// is unknown there.
    private func outcome(of line: Int32, _ side: RunSide) -> Int32?? {
        let (entry, other) = (entry(line, side), side.opposite)
        let (post, observer) = counterparts(line, side)
        guard entry.stage.isOutcome, post >= 0, observer >= 0 || entry.observer < 0 else { return .none }
        let delivery = ComparedRun.Delivery(
            post: recordings[other].postName(post), observer: recordings[other].observerName(observer))
        return .some(matching.runs[other].outcomeOfDelivery[delivery])
    }

    private func counterparts(_ line: Int32, _ side: RunSide) -> (post: Int32, observer: Int32) {
        let (entry, recording) = (entry(line, side), recordings[side])
        let post = matching.renaming.counterpart(of: recording.postName(entry.post), on: side)
        return (recordings[side.opposite].post(post), counterpart(observer: entry.observer, side))
    }

    /// Names a record's delivery: `#3 for observer 1`.
    private func delivery(_ line: Int32, _ side: RunSide) -> String {
        describe(side, entry(line, side).post, entry(line, side).observer)
    }

    private func describe(_ side: RunSide, _ post: Int32, _ observer: Int32) -> String {
        let recording = recordings[side].recording
        return recording.describePost(post) + (observer < 0 ? "" : " for \(recording.describeObserver(observer))")
    }

    // MARK: Records

    /// The first property in which two records differ.
    private func reason(_ shown: Pair<Int32?>) -> RunDifference.Reason {
        guard let first = shown.first else { return .onlyInSecond }
        guard let second = shown.second else { return .onlyInFirst }
        let (entry, match) = (entry(first, .first), entry(second, .second))
        let (one, other, renaming) = (recordings.first, recordings.second, matching.renaming)
        func differ<Value: Equatable>(_ value: (Recording, Recording.Entry) -> Value) -> Bool {
            value(one.recording, entry) != value(other.recording, match)
        }
        func differ(_ name: (ComparedRecording, Recording.Entry) -> Int32) -> Bool {
            !renaming.mayMatch(name(one, entry), name(other, match))
        }
        if isExact, differ({ $0.threadName($1.thread) }) { return .thread }
        if entry.stage != match.stage { return .stage }
        if differ({ $0.name(of: $1) }) { return .name }
        if differ({ $0.postName($1.post) }) { return .post }
        if differ({ $0.observerName($1.observer) }) { return .observer }
        if differ({ $0.threadName($1.target) }) { return .target }
        if differ({ $0.postName($1.relatedPost) }) { return .relatedPost }
        if entry.count != match.count, entry.stage != .remove {
            return entry.stage == .post || entry.stage == .capture ? .count : .details
        }
        if differ({ $0.sender(of: $1)?.type }) { return .sender }
        if entry.overtakes != match.overtakes || entry.style != match.style || entry.policy != match.policy
            || entry.reason != match.reason || differ({ $0.counters(of: $1) })
        {
            return .details
        }
        return differ({ $0.message(of: $1).map { MessagePart.withoutThreads($0).skeleton } }) ? .message : .mention
    }

    /// Says what corresponds to the thing that differs, if it is known.
    private func counterpart(_ shown: Pair<Int32?>, _ reason: RunDifference.Reason) -> String? {
        func sentence(_ number: (Recording.Entry) -> Int32, _ name: (ComparedRecording, Int32) -> Int32,
            _ value: (ComparedRecording, Int32) -> Int32, _ describe: (Recording, Int32) -> String) -> String? {
            for side in RunSide.allCases {
                guard let line = shown[side] else { continue }
                let (own, other) = (recordings[side], recordings[side.opposite])
                let number = number(entry(line, side))
                let counterpart = value(other, matching.renaming.counterpart(of: name(own, number), on: side))
                guard counterpart >= 0 else { continue }
                return "\(describe(own.recording, number)) in \(names[side]) corresponds to "
                    + "\(describe(other.recording, counterpart)) in \(names[side.opposite])."
            }
            return nil
        }
        return switch reason {
        case .post: sentence(\.post, { $0.postName($1) }, { $0.post($1) }, { $0.describePost($1) })
        case .relatedPost: sentence(\.relatedPost, { $0.postName($1) }, { $0.post($1) }, { $0.describePost($1) })
        case .observer: sentence(\.observer, { $0.observerName($1) }, { $0.observer($1) }, { $0.describeObserver($1) })
        case .target: "They are for \(target(shown, .first)) and \(target(shown, .second))."
        default: nil
        }
    }

    /// A number tells threads with the same name apart.
    private func target(_ shown: Pair<Int32?>, _ side: RunSide) -> String {
        guard let target = shown[side].map({ entry($0, side).target }), target >= 0 else {
            return "the posting thread in \(names[side])"
        }
        let recording = recordings[side].recording
        let identity = recording.threads[Int(target)].identity
        let number = identity.name == nil ? "" : " (thread \(identity.number))"
        return "\(recording.describeThread(target))\(number) in \(names[side])"
    }

    /// Says what one of the runs does not do further; for a difference of two records, what differs.
    private func plainSentence(_ shown: Pair<Int32?>, _ reason: RunDifference.Reason) -> String {
        guard let side = RunSide.allCases.first(where: { shown[$0.opposite] == nil }), !isExact, let line = shown[side]
        else { return reason.sentence }
        let (own, other, name) = (recordings[side], recordings[side.opposite], names[side.opposite])
        let lane = own.run.lanes[Int(own.run.lines[Int(line)].lane)]
        let thread = own.threadName(entry(line, side).thread)
        let counterpart = matching.renaming.counterpart(of: thread, on: side)
        guard counterpart >= 0 else {
            let hasOthers = other.recording.threads.indices.contains { other.threadLabel(Int32($0)) == own.threadLabel(thread) }
            let what = own.threadLabel(thread) == ComparedRecording.unnamed ? "without a name that does this" : "with this name"
            return "\(name) has no \(hasOthers ? "other " : "")thread \(what)."
        }
        let words = other.recording.describeThread(counterpart)
        guard lane.key.parent >= 0 else { return "In \(name) \(words) does nothing further on its own." }
        let parent = own.run.lanes[Int(lane.key.parent)].key.names.first ?? -1
        let origin = matching.renaming.counterpart(of: parent, on: side)
        let poster = origin < 0 ? "this thread" : other.recording.describeThread(origin)
        return "In \(name) \(words) does nothing further that \(poster) handed to it."
    }
}

// MARK: Ends

extension RecordDifferences {
    /// The difference of two runs that are the same except for how they ended. Nil unless both recordings say how, and
    /// one of them ended by a signal.
    var end: RunDifference? {
        let ends = recordings.map { $0.recording.entries.lastIndex { $0.stage == .end } }
        guard let first = ends.first, let second = ends.second else { return nil }
        let reasons = [entry(Int32(first), .first).reason, entry(Int32(second), .second).reason]
        guard reasons[0] != reasons[1], reasons.contains(where: { $0?.isSignal == true }) else { return nil }
        return RunDifference(
            reason: .end, first: side(.first, Int32(first)), second: side(.second, Int32(second)),
            explanation: [RunDifference.Reason.end.sentence])
    }

    /// The difference of two runs that are the same up to where one is truncated.
    var truncation: RunDifference {
        let truncated = RunSide.allCases.filter { recordings[$0].run.isTruncated }
        let subject = truncated.count > 1 ? "they are" : "\(truncated.map { names[$0] }.joined()) is"
        var sides = Pair(side(.first, matching.missing.first), side(.second, matching.missing.second))
        for side in RunSide.allCases where sides[side].line == nil {
            sides[side].line = recordings[side].recording.entries.last.map { Int($0.line) }
        }
        return RunDifference(
            reason: .truncated, first: sides.first, second: sides.second,
            explanation: [
                "The runs are the same up to where \(subject) truncated: \(counted(matching.matched, "record"))."
            ] + truncated.flatMap(truncationSentences))
    }

    /// A sentence for each truncated process.
    private func truncationSentences(_ side: RunSide) -> [String] {
        let (recording, name) = (recordings[side].recording, names[side])
        let sentences = recording.completeness.enumerated().compactMap { process, completeness -> String? in
            guard case .truncated(let reason) = completeness else { return nil }
            let isOne = recording.processes.count == 1
            let subject = isOne ? name : "process \(recording.processes[process].id) of \(name)"
            return switch reason {
            case .line: "The last line of \(subject) is incomplete."
            case .lost, .missing, .damaged: "Records of \(subject) are missing."
            case .noEnd: "There is no end record of \(subject)."
            }
        }
        return sentences.isEmpty ? ["\(name) has no records."] : sentences
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
