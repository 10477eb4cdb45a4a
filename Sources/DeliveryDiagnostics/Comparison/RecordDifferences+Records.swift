internal import DeliveryRecording
internal import ThreadedNotifications

extension RecordDifferences {
    /// The first property in which two records differ.
    func reason(_ shown: Pair<Int32?>) -> RunDifference.Reason {
        guard let first = shown.first else { return .onlyInSecond }
        guard let second = shown.second else { return .onlyInFirst }
        let (entry, match) = (entry(first, .first), entry(second, .second))
        let (one, other) = (recordings.first, recordings.second)
        func differ<Value: Equatable>(_ value: (Recording, Recording.Entry) -> Value) -> Bool {
            value(one.recording, entry) != value(other.recording, match)
        }
        if entry.stage != match.stage { return .stage }
        if differ({ $0.name(of: $1) }) { return .name }
        for reason in [RunDifference.Reason.post, .observer, .target, .relatedPost]
        where !matching.renaming.mayMatch(one.name(reason, entry), other.name(reason, match)) {
            return reason
        }
        if entry.count != match.count, entry.stage != .remove {
            return entry.stage == .post || entry.stage == .capture ? .count : .details
        }
        if differ({ $0.sender(of: $1)?.type }) { return .sender }
        if differ({ [AnyHashable($1.overtakes), $1.style, $1.policy, $1.reason] }) { return .details }
        if differ({ $0.message(of: $1).map { MessagePart.withoutThreads($0).skeleton } }) { return .message }
        return one.mentions(of: entry).isEmpty ? .thread : .mention
    }

    /// Says what corresponds to the thing that differs, if it is known.
    func counterpart(_ shown: Pair<Int32?>, _ reason: RunDifference.Reason) -> String? {
        guard reason != .target else { return "They are for \(target(shown, .first)) and \(target(shown, .second))." }
        for side in RunSide.allCases {
            guard let line = shown[side] else { continue }
            let name = recordings[side].name(reason, entry(line, side))
            let counterpart = matching.renaming.counterpart(of: name, on: side)
            guard counterpart >= 0 else { continue }
            return "\(recordings[side].words(name)) in \(names[side]) corresponds to "
                + "\(recordings[side.opposite].words(counterpart)) in \(names[side.opposite])."
        }
        return nil
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
    func plainSentence(_ shown: Pair<Int32?>, _ reason: RunDifference.Reason) -> String {
        guard let side = RunSide.allCases.first(where: { shown[$0.opposite] == nil }), let line = shown[side]
        else { return reason.sentence }
        let (own, other, name) = (recordings[side], recordings[side.opposite], names[side.opposite])
        let thread = entry(line, side).thread
        let counterpart = matching.renaming.counterpart(of: own.threadName(thread), on: side)
        guard counterpart >= 0 else {
            let hasOthers = other.recording.threads.indices.contains { other.label(Int32($0)) == own.label(thread) }
            return "\(name) has no \(hasOthers ? "other " : "")thread "
                + "\(own.label(thread) == ComparedRecording.unnamed ? "without a name that does this" : "with this name")."
        }
        let words = other.recording.describeThread(counterpart)
        let parent = own.run.lanes[Int(own.run.lane(ofLine: line))].key.parent
        guard parent >= 0 else { return "In \(name) \(words) does nothing further on its own." }
        let poster = own.run.lanes[Int(parent)].key.names.first ?? -1
        let origin = matching.renaming.counterpart(of: poster, on: side)
        return "In \(name) \(words) does nothing further that "
            + "\(origin < 0 ? "this thread" : other.recording.describeThread(origin)) handed to it."
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
        let truncated = RunSide.allCases.filter { recordings[$0].run.isTruncated }
        let subject = truncated.count > 1 ? "they are" : "\(truncated.map { names[$0] }.joined()) is"
        let sentence = "The runs are the same up to where \(subject) truncated: \(counted(matching.matched, "record"))."
        var found = difference(.truncated, matching.missing, [sentence] + truncated.flatMap(truncationSentences))
        found.first.line = found.first.line ?? recordings.first.recording.entries.last.map { Int($0.line) }
        found.second.line = found.second.line ?? recordings.second.recording.entries.last.map { Int($0.line) }
        return found
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
