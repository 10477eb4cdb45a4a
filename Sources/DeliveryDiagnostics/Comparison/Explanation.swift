internal import TerminalText

/// Says in sentences what the differences of two runs are.
protocol Explanation {
    var matching: LaneMatching { get }
    /// The names of the runs in sentences.
    var names: Pair<String> { get }

    /// The work of a line; nil for a record that is no work of its own.
    func work(_ line: Int32, _ side: RunSide) -> RunWork?
    /// True if neither run does work on all the threads on which the other one does it.
    func isElsewhere(_ work: RunWork) -> Bool
    /// The first property in which two lines of one place differ.
    func reason(_ first: Int32, _ second: Int32) -> RunDifference.Reason
    func difference(_ reason: RunDifference.Reason, _ lines: Pair<Int32?>, _ sentences: [String]) -> RunDifference
    func sentences(_ reason: RunDifference.Reason, _ first: Int32, _ second: Int32) -> [String]
    /// Says that only one run has a line.
    func sentence(onlyIn side: RunSide, _ line: Int32) -> String
    /// A line of a run for a report, or its file.
    func side(_ line: Int32?, _ side: RunSide) -> RunDifference.Side
    /// Whether to show for a line of one run what the other has in its place.
    var showsPlaces: Bool { get }
}

/// What a line says that a thread does.
struct RunWork {
    /// Equal for the same work.
    var shape: Int
    /// The thread's name in the run, or -1.
    var thread: Int32
    /// Different for threads that cannot correspond.
    var label: Int
    /// For example `Done is handled` and `on worker`.
    var subject: String
    var place: String
    var reason = RunDifference.Reason.thread
}

extension Explanation {
    /// Those of work on other threads first, because much of what differs otherwise follows from them.
    func found(_ maximum: Int) -> [RunDifference] {
        var (ofThreads, others, places) = ([RunDifference](), [RunDifference](), Set<[Int32?]>())
        for difference in matching.differences {
            if let found = otherThread(difference) {
                if !ofThreads.contains(where: { $0.explanation == found.explanation }) { ofThreads.append(found) }
            } else if others.count < maximum, places.insert([difference.next.first, difference.next.second]).inserted {
                // Of several in one place, the first is shown.
                others.append(explained(difference))
            }
            if ofThreads.count >= maximum { break }
        }
        return Array((ofThreads + others).prefix(maximum))
    }

    private func otherThread(_ difference: LaneMatching.Difference) -> RunDifference? {
        let lines = difference.lines
        guard difference.isMoved || showsPlaces, let first = lines.first, let second = lines.second,
            let work = work(first, .first),
            let other = self.work(second, .second), work.shape == other.shape,
            !matching.renaming.mayMatch(work.thread, other.thread),
            difference.isMoved || work.label != other.label && isElsewhere(work)
        else { return nil }
        return self.difference(
            work.reason, lines,
            ["\(work.subject) \(work.place) in \(names.first), \(other.place) in \(names.second)."])
    }

    private func explained(_ difference: LaneMatching.Difference) -> RunDifference {
        let (lines, next) = (difference.lines, difference.next)
        guard let first = lines.first, let second = lines.second else {
            let side: RunSide = lines.first == nil ? .second : .first
            let shown = showsPlaces ? Pair(lines.first ?? next.first, lines.second ?? next.second) : lines
            let sentences = [lines[side].map { sentence(onlyIn: side, $0) }].compactMap(\.self)
            return self.difference(side == .first ? .onlyInFirst : .onlyInSecond, shown, sentences)
        }
        if difference.isMoved, matching.isSameLane(lines) || work(first, .first) != nil {
            return self.difference(.order, lines, [RunDifference.Reason.order.sentence])
        }
        let reason = reason(first, second)
        return self.difference(reason, lines, sentences(reason, first, second))
    }

    func difference(_ reason: RunDifference.Reason, _ lines: Pair<Int32?>, _ sentences: [String]) -> RunDifference {
        RunDifference(
            reason: reason, first: side(lines.first, .first), second: side(lines.second, .second),
            explanation: sentences)
    }

    static func names(_ sources: Pair<String>) -> Pair<String> {
        let names = sources.map { ShownText.escaped($0) }
        return names.first == names.second ? Pair("the first", "the second") : names
    }
}
