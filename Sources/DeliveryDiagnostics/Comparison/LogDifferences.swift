internal import TerminalText

/// Says in sentences what the differences of two text logs are.
struct LogDifferences {
    let matching: LaneMatching
    let logs: ComparedLogs
    let names: Pair<String>
    private let single: Pair<Set<Int32>>

    init(_ matching: LaneMatching, _ logs: ComparedLogs) {
        (self.matching, self.logs) = (matching, logs)
        names = RunDifference.names(logs.logs.map(\.name))
        let singles = matching.differences.filter { $0.lines.first == nil || $0.lines.second == nil }
        single = Pair(Set(singles.compactMap(\.lines.first)), Set(singles.compactMap(\.lines.second)))
    }

    func found(_ maximum: Int) -> [RunDifference] { matching.differences.prefix(maximum).map(difference) }

    private func message(_ line: Int32, _ side: RunSide) -> TextLog.Message { logs.logs[side].messages[Int(line)] }

    private func skeleton(_ line: Int32, _ side: RunSide) -> Int { matching.runs[side].lines[Int(line)].skeleton }

    private func difference(_ difference: LaneMatching.Difference) -> RunDifference {
        let lines = difference.lines
        let reason: RunDifference.Reason
        var sentence: String?
        switch (lines.first, lines.second) {
        case (let first?, let second?):
            if !difference.isMoved {
                reason = skeleton(first, .first) == skeleton(second, .second) ? .mention : .message
            } else if matching.isSameLane(lines) {
                reason = .order
            } else {
                (reason, sentence) = (.thread, moved(first, second))
            }
        case (let first?, nil): (reason, sentence) = (.onlyInFirst, onlyIn(.first, first))
        default: (reason, sentence) = (.onlyInSecond, lines.second.flatMap { onlyIn(.second, $0) })
        }
        let truncated = RunSide.allCases.filter { side in
            !logs.logs[side].isComplete && lines[side] == Int32(logs.logs[side].messages.count - 1)
        }.map { "\(names[$0]) ends within this line, without a newline: it may be truncated." }
        let line = continuation(lines)
        return RunDifference(
            reason: reason, first: side(.first, lines.first, line), second: side(.second, lines.second, line),
            explanation: [sentence ?? reason.sentence] + truncated)
    }

    /// The first line that differs in two messages with the same first line.
    private func continuation(_ lines: Pair<Int32?>) -> Int? {
        guard let first = lines.first, let second = lines.second else { return nil }
        let (one, other) = (textLines(first, .first), textLines(second, .second))
        let common = zip(one, other).prefix { $0 == $1 }.count
        return common > 0 && one != other ? common : nil
    }

    private func textLines(_ line: Int32, _ side: RunSide) -> [Substring] {
        message(line, side).text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// - Parameter continuation: a line of the message to show too.
    private func side(_ side: RunSide, _ line: Int32?, _ continuation: Int?) -> RunDifference.Side {
        guard let line else { return RunDifference.Side(source: logs.logs[side].name) }
        let lines = textLines(line, side)
        let rest = continuation.map { $0 < lines.count ? " … \(lines[$0])" : " (ends here)" } ?? ""
        return logs.logs[side].side(Int(line), rest)
    }

    // MARK: Threads

    private func moved(_ first: Int32, _ second: Int32) -> String {
        "In \(names.first) the line is written \(writer(first, .first)), in \(names.second) \(writer(second, .second))."
    }

    private func writer(_ line: Int32, _ side: RunSide) -> String {
        let log = logs.logs[side]
        let (number, earlier) = (message(line, side).writer, log.messages[..<Int(line)])
        let writer = log.writers[number]
        if logs.usesNames, let name = writer.name { return "by \(ShownText.name(name))" }
        if let chain = writer.chain { return "for \(ShownText.name(chain))" }
        if let first = earlier.first(where: { $0.writer == number }) { return "by the thread of line \(first.line)" }
        let isKnown = earlier.isEmpty || earlier.contains { log.writers[$0.writer].process == writer.process }
        return "by a \(isKnown ? "thread" : "process") not seen before"
    }

    private func onlyIn(_ side: RunSide, _ line: Int32) -> String? {
        let (other, writer) = (names[side.opposite], message(line, side).writer)
        let group = logs.groups[side][writer]
        if logs.isUnordered(writer, side) {
            let counts = RunSide.allCases.map { count(skeleton(line, side), group, $0) }
            if counts[0] != counts[1] {
                let times = counts.map { $0 == 1 ? "once" : "\($0) times" }
                return "\(ShownText.name(group)) writes this line \(times[0]) in \(names.first), \(times[1]) in "
                    + "\(names.second)."
            }
        }
        let lane = matching.runs[side].lane(ofLine: line)
        let counterpart = matching.counterparts[side][Int(lane)]
        guard counterpart >= 0 else { return "No other thread of \(other) writes this line." }
        if matching.lane(lane, side).lines.drop(while: { $0 < line }).allSatisfy(single[side].contains) { return nil }
        let first = matching.lane(counterpart, side.opposite).lines[0]
        return "In \(other) the thread of line \(message(first, side.opposite).line) does not write this line."
    }

    /// How often a group writes a text.
    private func count(_ skeleton: Int, _ group: String, _ side: RunSide) -> Int {
        zip(matching.runs[side].lines, logs.logs[side].messages).count {
            $0.skeleton == skeleton && logs.groups[side][$1.writer] == group
        }
    }

    // MARK: Masks

    /// Expressions that mask the differences, if more than half of the differing pairs differ only in digits: at most
    /// three, those of most pairs first.
    var masks: [String] {
        let pairs = matching.differences.compactMap { difference -> (String, String)? in
            guard !difference.isMoved, let first = difference.lines.first, let second = difference.lines.second
            else { return nil }
            return (message(first, .first).text, message(second, .second).text)
        }.filter { $0 != $1 }
        let digits = pairs.filter { $0.filter { !$0.isNumber } == $1.filter { !$0.isNumber } }
        guard digits.count * 2 > pairs.count else { return [] }
        var counts: [String: Int] = [:]
        for (text, other) in digits {
            let number = /([^\s\d]*\s?)(\d[\d.,:]*)/
            for (one, two) in zip(text.matches(of: number), other.matches(of: number)) where one.2 != two.2 {
                let escaped = one.1.map { $0.isLetter || $0.isWhitespace || !$0.isASCII ? "\($0)" : "\\\($0)" }
                counts[escaped.joined() + "[0-9][0-9.,:]*", default: 0] += 1
            }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3).map(\.key)
    }
}
