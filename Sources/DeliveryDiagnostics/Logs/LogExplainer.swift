internal import DeliveryRecording
internal import TerminalText

/// Says in sentences what a difference of two logs is.
struct LogExplainer {
    private let search: LogMatching
    private let names: Pair<String>
    private let single: Pair<Set<Int>>

    init(_ search: LogMatching, _ names: Pair<String>) {
        (self.search, self.names) = (search, names)
        var single = Pair<Set<Int>>([], [])
        for difference in search.differences {
            for side in RunSide.allCases where difference.messages[side.opposite] == nil {
                if let message = difference.messages[side] { single[side].insert(message) }
            }
        }
        self.single = single
    }

    func difference(_ difference: LogMatching.Difference) -> RunDifference {
        let messages = difference.messages
        let (reason, sentence): (RunDifference.Reason, String)
        if let first = messages.first, let second = messages.second {
            if difference.isMoved || search.correspondence.isMoved(first, second) {
                (reason, sentence) = (.thread, writers(first, second))
            } else {
                reason =
                    search.correspondence.skeletons.first[first] == search.correspondence.skeletons.second[second]
                    ? .mention : .message
                sentence = reason.sentence
            }
        } else if let message = messages.first {
            (reason, sentence) = (.onlyInFirst, onlyIn(.first, message))
        } else {
            (reason, sentence) = (.onlyInSecond, messages.second.map { onlyIn(.second, $0) } ?? "")
        }
        var explanation = [sentence]
        for side in RunSide.allCases {
            let log = search.logs[side]
            if let message = messages[side], !log.isComplete, message == log.messages.count - 1 {
                explanation.append(
                    "\(names[side]) ends within this line, without a newline: it may be truncated.")
            }
        }
        let line = continuation(messages)
        return RunDifference(
            reason: reason, first: side(.first, messages.first, line), second: side(.second, messages.second, line),
            explanation: explanation)
    }

    /// The first line that differs in two messages with the same first line.
    private func continuation(_ messages: Pair<Int?>) -> Int? {
        guard let first = messages.first, let second = messages.second else { return nil }
        let (one, other) = (lines(first, .first), lines(second, .second))
        let common = zip(one, other).prefix { $0 == $1 }.count
        return common > 0 && one != other ? common : nil
    }

    private func lines(_ message: Int, _ side: RunSide) -> [Substring] {
        search.logs[side].messages[message].text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// - Parameter continuation: a line of the message to show too.
    private func side(_ side: RunSide, _ message: Int?, _ continuation: Int?) -> RunDifference.Side {
        let log = search.logs[side]
        guard let message else { return RunDifference.Side(source: log.name) }
        let lines = lines(message, side)
        let rest = continuation.map { $0 < lines.count ? " … \(lines[$0])" : " (ends here)" } ?? ""
        return RunDifference.Side(
            source: log.name, line: log.messages[message].line,
            thread: log.writers[log.messages[message].writer].name, text: log.messages[message].shown + rest)
    }

    /// The threads that write two lines.
    private func writers(_ first: Int, _ second: Int) -> String {
        "In \(names.first) the line is written \(writer(first, .first)), in \(names.second) \(writer(second, .second))."
    }

    private func writer(_ message: Int, _ side: RunSide) -> String {
        let log = search.logs[side]
        let (number, earlier) = (log.messages[message].writer, log.messages[..<message])
        let writer = log.writers[number]
        if search.identities.usesNames, let name = writer.name { return "by \(ShownText.name(name))" }
        if let chain = writer.chain { return "for \(ShownText.name(chain))" }
        if let first = earlier.first(where: { $0.writer == number }) { return "by the thread of line \(first.line)" }
        let isKnown = earlier.isEmpty || earlier.contains { log.writers[$0.writer].process == writer.process }
        return "by a \(isKnown ? "thread" : "process") not seen before"
    }

    private func onlyIn(_ side: RunSide, _ message: Int) -> String {
        let (log, other) = (search.logs[side], names[side.opposite])
        let group = search.identities.groups[side][log.messages[message].writer]
        if !search.isExact, search.identities.isUnordered[side][log.messages[message].writer] {
            let counts = RunSide.allCases.map { count(search.correspondence.skeletons[side][message], group, $0) }
            if counts[0] != counts[1] {
                let times = counts.map { $0 == 1 ? "once" : "\($0) times" }
                return "\(ShownText.name(group)) writes this line \(times[0]) in \(names.first), \(times[1]) in "
                    + "\(names.second)."
            }
        }
        let lane = search.laneOfMessage[side][message]
        guard let counterpart = search.counterparts[side][lane] else {
            return "No other thread of \(other) writes this line."
        }
        let rest = search.lanes[side][lane].messages.drop { $0 < message }
        if rest.allSatisfy(single[side].contains) { return RunDifference.Reason.onlyInFirst.sentence }
        let first = search.lanes[side.opposite][counterpart].messages[0]
        return search.isExact
            ? "\(other) does not have this line."
            : "In \(other) the thread of line \(search.logs[side.opposite].messages[first].line) does not write this line."
    }

    /// How often a group writes a text.
    private func count(_ text: Int, _ group: String, _ side: RunSide) -> Int {
        let (messages, groups) = (search.logs[side].messages, search.identities.groups[side])
        return messages.indices.count {
            search.correspondence.skeletons[side][$0] == text && groups[messages[$0].writer] == group
        }
    }

    // MARK: Masks

    /// Expressions that mask what differs, if more than half of the differing pairs differ only in digits: at most three,
    /// those of most pairs first.
    func masks(for differences: [LogMatching.Difference]) -> [String] {
        let pairs = differences.compactMap { difference -> (String, String)? in
            guard !difference.isMoved, let first = difference.messages.first, let second = difference.messages.second
            else { return nil }
            return (search.logs.first.messages[first].text, search.logs.second.messages[second].text)
        }.filter { $0 != $1 }
        let digits = pairs.filter { $0.filter { !$0.isNumber } == $1.filter { !$0.isNumber } }
        guard digits.count * 2 > pairs.count else { return [] }
        var counts: [String: Int] = [:]
        for (text, other) in digits {
            let number = /([^\s\d]*\s?)(\d[\d.,:]*)/
            for (one, two) in zip(text.matches(of: number), other.matches(of: number)) where one.2 != two.2 {
                counts[Self.escaped(one.1) + "[0-9][0-9.,:]*", default: 0] += 1
            }
        }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3).map(\.key)
    }

    /// The text as a regular expression.
    private static func escaped(_ text: Substring) -> String {
        text.reduce(into: "") { $0 += $1.isLetter || $1.isWhitespace || !$1.isASCII ? "\($1)" : "\\\($1)" }
    }
}
