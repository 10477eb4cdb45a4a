internal import TerminalText

/// The differences of two text logs.
struct LogDifferences: Explanation {
    let matching: LaneMatching
    let logs: Pair<ComparedLog>
    let names: Pair<String>
    let showsPlaces = false

    init(_ matching: LaneMatching, _ logs: Pair<ComparedLog>) {
        (self.matching, self.logs) = (matching, logs)
        names = Self.names(logs.map(\.log.name))
    }

    func message(_ line: Int32, _ side: RunSide) -> TextLog.Message { logs[side].log.messages[Int(line)] }

    func reason(_ first: Int32, _ second: Int32) -> RunDifference.Reason {
        let runs = matching.runs
        return runs.first.lines[Int(first)].skeleton == runs.second.lines[Int(second)].skeleton ? .mention : .message
    }

    func sentences(_ reason: RunDifference.Reason, _ first: Int32, _ second: Int32) -> [String] { [reason.sentence] }

    func difference(_ reason: RunDifference.Reason, _ lines: Pair<Int32?>, _ sentences: [String]) -> RunDifference {
        var sides = RunSide.allCases.map { side(lines[$0], $0) }
        // Of two messages with the same first line, the first line that differs.
        if let first = lines.first, let second = lines.second {
            let texts = [message(first, .first), message(second, .second)].map { $0.text.split(separator: "\n") }
            let common = zip(texts[0], texts[1]).prefix { $0 == $1 }.count
            for (side, text) in texts.enumerated() where common > 0 && texts[0] != texts[1] {
                sides[side].text? += common < text.count ? " … \(text[common])" : " (ends here)"
            }
        }
        return RunDifference(reason: reason, first: sides[0], second: sides[1], explanation: sentences)
    }

    func side(_ line: Int32?, _ side: RunSide) -> RunDifference.Side {
        line.map { logs[side].log.side(Int($0)) } ?? .init(source: logs[side].log.name)
    }

    // MARK: Threads

    func isElsewhere(_ work: RunWork) -> Bool { true }

    func work(_ line: Int32, _ side: RunSide) -> RunWork? {
        let (log, number) = (logs[side].log, message(line, side).writer)
        let writer = log.writers[number]
        let lane = matching.lane(matching.runs[side].lane(ofLine: line), side)
        let first = log.messages[..<Int(line)].first { $0.writer == number }
        let thread = first.map { "the thread of line \($0.line)" } ?? "a thread not seen before"
        let name = (logs[side].threads.usesNames ? writer.name : nil) ?? writer.chain
        return RunWork(
            shape: matching.runs[side].lines[Int(line)].skeleton, thread: lane.key.names.first ?? Int32(number),
            label: matching.runs[side].names[number].label, subject: "The line is written",
            place: "by \(name.map { ShownText.name($0) } ?? thread)")
    }

    func sentence(onlyIn side: RunSide, _ line: Int32) -> String {
        let (threads, writer) = (logs[side].threads, logs[side].log.writers[message(line, side).writer])
        guard threads.isUnordered(writer) else { return "Only \(names[side]) has this line." }
        return "\(names[side.opposite]) has no other line like this of \(ShownText.name(threads.groups[writer] ?? ""))."
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
