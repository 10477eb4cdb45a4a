internal import DeliveryRecording
internal import ThreadedNotifications

/// The differences of two recordings.
struct RecordDifferences: Explanation {
    let matching: LaneMatching
    let recordings: Pair<ComparedRecording>
    let names: Pair<String>
    /// For each shape of work: the labels of the threads on which a run does it.
    private var places = Pair<[Int: Set<Int>]>([:], [:])
    let showsPlaces = true

    init(_ matching: LaneMatching, _ recordings: Pair<ComparedRecording>) {
        (self.matching, self.recordings) = (matching, recordings)
        names = Self.names(recordings.map(\.recording.source))
        guard !matching.differences.isEmpty else { return }
        for side in RunSide.allCases {
            for (line, entry) in zip(recordings[side].run.lines, recordings[side].recording.entries)
            where line.skeleton != 0 {
                guard let thread = worker(entry, side) else { continue }
                places[side][line.shape, default: []].insert(recordings[side].label(thread))
            }
        }
    }

    private func entry(_ line: Int32, _ side: RunSide) -> Recording.Entry { recordings[side].index.entry(line) }

    func side(_ line: Int32?, _ side: RunSide) -> RunDifference.Side { recordings[side].side(line) }

    // MARK: Threads

    func isElsewhere(_ work: RunWork) -> Bool { isElsewhere(work.shape) }

    private func isElsewhere(_ shape: Int) -> Bool {
        let (own, others) = (places.first[shape] ?? [], places.second[shape] ?? [])
        return !own.isSubset(of: others) && !others.isSubset(of: own)
    }

    /// True if neither run does some work on all the threads on which the other one does it. How often it does it does
    /// not matter.
    var haveWorkElsewhere: Bool { places.first.keys.contains(where: isElsewhere) }

    /// The thread that does a work, or the target of one; nil for no work. A block has no name, and another one may be
    /// anything else.
    private func worker(_ entry: Recording.Entry, _ side: RunSide) -> Int32? {
        guard recordings[side].name(of: entry) >= 0 || entry.stage == .log else { return nil }
        return switch entry.stage {
        case .register, .append: entry.target
        case .post, .enqueue, .deliver, .log: entry.thread
        default: nil
        }
    }

    func work(_ line: Int32, _ side: RunSide) -> RunWork? {
        let (recording, entry) = (recordings[side], entry(line, side))
        guard let thread = worker(entry, side) else { return nil }
        let words = RecordWords(recording.index)
        let name = words.name(recording.name(of: entry))
        let (subject, preposition) =
            switch entry.stage {
            case .register: ("The observer of \(name) is", "for")
            case .post, .enqueue: ("\(name) is posted", "by")
            case .log: ("The message is logged", "on")
            default: ("\(name) is handled", "on")
            }
        return RunWork(
            shape: recording.run.lines[Int(line)].shape, thread: recording.threadName(thread),
            label: recording.label(thread), subject: subject,
            place: "\(preposition) \(thread < 0 ? "the posting thread" : words.thread(thread))",
            reason: entry.stage == .register ? .target : .thread)
    }

    // MARK: Records

    func sentence(onlyIn side: RunSide, _ line: Int32) -> String {
        let (recording, entry) = (recordings[side], entry(line, side))
        let what = [recording.postName(entry.post), recording.observerName(entry.observer)].filter { $0 >= 0 }
            .map(recording.words).joined(separator: " for ")
        return "Only \(names[side]) has the \(entry.stage.rawValue)\(what.isEmpty ? "" : " of \(what)")."
    }

    func reason(_ first: Int32, _ second: Int32) -> RunDifference.Reason {
        let (entry, match) = (entry(first, .first), entry(second, .second))
        let (one, other) = (recordings.first, recordings.second)
        func differ(_ value: (ComparedRecording, Recording.Entry) -> some Equatable) -> Bool {
            value(one, entry) != value(other, match)
        }
        if entry.stage != match.stage { return .stage }
        if differ({ $0.recording.name(of: $1) }) { return .name }
        for reason in [RunDifference.Reason.post, .observer, .target, .relatedPost]
        where !matching.renaming.mayMatch(one.name(reason, entry), other.name(reason, match)) {
            return reason
        }
        if differ({ $0.count($1) }) { return entry.stage == .post || entry.stage == .capture ? .count : .details }
        if differ({ $0.recording.sender(of: $1)?.type }) { return .sender }
        if differ({ $0.details($1) }) { return .details }
        if differ({ $0.recording.message(of: $1).map { LogText($0).skeleton } }) { return .message }
        return one.mentions(of: entry).isEmpty ? .thread : .mention
    }

    func sentences(_ reason: RunDifference.Reason, _ first: Int32, _ second: Int32) -> [String] {
        if reason == .stage {
            let words = [side(first, .first), side(second, .second)].map {
                "\($0.stage?.rawValue ?? "") on \($0.thread ?? "")"
            }
            return ["One run has \(words[0]) where the other has \(words[1])."]
        }
        let lines = Pair(first, second)
        for side in RunSide.allCases {
            let name = recordings[side].name(reason, entry(lines[side], side))
            let counterpart = matching.renaming.counterpart(of: name, on: side)
            guard counterpart >= 0 else { continue }
            return [
                reason.sentence,
                "\(recordings[side].words(name)) in \(names[side]) corresponds to "
                    + "\(recordings[side.opposite].words(counterpart)) in \(names[side.opposite]).",
            ]
        }
        return [reason.sentence]
    }

    // MARK: Ends

    /// The difference of two runs that are the same except for how they ended. Nil unless both recordings say how, and
    /// one of them ended by a signal.
    var end: RunDifference? {
        let ends = recordings.map { $0.recording.entries.lastIndex { $0.stage == .end }.map(Int32.init) }
        guard let first = ends.first, let second = ends.second else { return nil }
        let reasons = [entry(first, .first).reason, entry(second, .second).reason]
        guard reasons[0] != reasons[1], reasons.contains(where: { $0?.isSignal == true }) else { return nil }
        return difference(.end, ends, [RunDifference.Reason.end.sentence])
    }

    /// The difference of two runs that are the same up to where one is truncated.
    var truncation: RunDifference {
        let sentences = RunSide.allCases.compactMap { side in
            recordings[side].recording.incompleteness.map { "\(names[side]) is incomplete: \($0)." }
        }
        return difference(
            .truncated, matching.missing,
            ["The runs are the same up to a truncation: \(counted(matching.matched, "record"))."] + sentences)
    }
}
