internal import TerminalText

/// Says in sentences what the differences of two runs are.
struct DifferenceWords {
    let matching: LaneMatching
    let sources: [any ComparedSource]

    /// The names of the runs in sentences.
    var names: [String] {
        let names = sources.map { ShownText.escaped($0.path) }
        return names[0] == names[1] ? ["the first", "the second"] : names
    }

    /// Those of work on other threads first, because much of what differs otherwise follows from them.
    func differences(_ maximum: Int) -> [RunDifference] {
        var (ofThreads, others, places) = ([RunDifference](), [RunDifference](), Set<[Int?]>())
        for difference in matching.differences {
            if let found = otherThread(difference) {
                if !ofThreads.contains(where: { $0.explanation == found.explanation }) { ofThreads.append(found) }
            } else if others.count < maximum, places.insert(difference.next).inserted {
                // Of several in one place, the first is shown.
                others.append(explained(difference))
            }
            if ofThreads.count >= maximum { break }
        }
        return Array((ofThreads + others).prefix(maximum))
    }

    /// The difference of two lines that do the same work on different threads. A block has no name, and another one may
    /// be anything else.
    private func otherThread(_ difference: LaneMatching.Difference) -> RunDifference? {
        let events = sources.indices.map { side in difference.lines[side].flatMap { sources[side].event($0) } }
        guard let first = events[0], let second = events[1], first.text == second.text, !first.text.subject.isEmpty,
            !matching.renaming.mayMatch(first.thread, second.thread),
            difference.isMoved || label(first.thread, 0) != label(second.thread, 1)
        else { return nil }
        let places = zip(sources, [first, second]).map { $0.place($1.thread) }
        let preposition = first.text.verb.split(separator: " ").last ?? ""
        return self.difference(
            first.text.verb.hasPrefix("gets") ? .target : .thread, difference.lines,
            "\(first.text.clause(places[0])) in \(names[0]), \(preposition) \(places[1]) in \(names[1]).")
    }

    private func label(_ thread: Int, _ side: Int) -> Int { thread < 0 ? 0 : matching.runs[side].names[thread].label }

    private func explained(_ difference: LaneMatching.Difference) -> RunDifference {
        let (lines, runs) = (difference.lines, matching.runs)
        guard let first = lines[0], let second = lines[1] else {
            let side = lines[0] == nil ? 1 : 0
            // With what the other run has in its place.
            return self.difference(
                side == 0 ? .onlyInFirst : .onlyInSecond, sources.indices.map { lines[$0] ?? difference.next[$0] },
                "Only \(names[side]) has this \(runs[side].isText ? "line" : "record").")
        }
        let isSameLane = matching.counterparts[0][runs[0].lines[first].lane] == runs[1].lines[second].lane
        let reason =
            difference.isMoved && (isSameLane || sources[0].event(first) != nil) ? .order : reason(first, second)
        return self.difference(reason, lines, reason.sentence)
    }

    /// The first part in which two lines of one place differ.
    private func reason(_ first: Int, _ second: Int) -> RunDifference.Reason {
        let parts = [sources[0].parts(first), sources[1].parts(second)]
        var renaming = matching.renaming
        for (reason, _) in parts.joined() {
            let tokens = parts.map { $0.filter { $0.reason == reason }.map(\.token) }
            guard tokens[0].count == tokens[1].count, zip(tokens[0], tokens[1]).allSatisfy({ renaming.match($0, $1) })
            else { return reason }
        }
        return .thread
    }

    func difference(_ reason: RunDifference.Reason, _ lines: [Int?], _ sentences: String...) -> RunDifference {
        var sides = sources.indices.map { sources[$0].side(lines[$0]) }
        // Of two messages with the same first line, the first line that differs.
        let texts = sources.indices.map { side in
            lines[side].flatMap { sources[side].event($0) }?.text.subject.split(separator: "\n") ?? []
        }
        let common = zip(texts[0], texts[1]).prefix { $0 == $1 }.count
        for (side, text) in texts.enumerated() where common > 0 && texts[0] != texts[1] {
            sides[side].text? += common < text.count ? " … \(text[common])" : " (ends here)"
        }
        return RunDifference(reason: reason, first: sides[0], second: sides[1], explanation: sentences)
    }
}
