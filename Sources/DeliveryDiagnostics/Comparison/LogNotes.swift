internal import TerminalText

/// The sentences of a report on two text logs besides the differences.
struct LogNotes {
    let words: DifferenceWords
    let logs: [ComparedLog]

    var sentences: [String] {
        let (matching, unordered) = (words.matching, logs[0].threads.unordered)
        let (areSame, unit) = (matching.differences.isEmpty, logs[0].log.unit)
        var sentences: [String] = []
        if areSame, logs[0].threadCount > 1 {
            let sameThreads = unordered.isEmpty ? "Each thread did the same; order" : "Order"
            sentences.append("\(sameThreads) between threads was not compared.")
        }
        if !unordered.isEmpty {
            let shown = unordered.prefix(9).map { ShownText.name($0) }
            let others = unordered.count > 9 ? ["\(unordered.count - 9) others"] : []
            let groups = (shown + others).joined(separator: ", ")
            let what = unit == nil ? "lines" : "runs of work"
            sentences.append(
                "The \(what) of \(groups) were compared without their order, because several threads may have written "
                    + "them.\(unit == nil ? " --unit REGEX keeps the order from a line that matches to the next." : "")"
            )
        }
        for (log, name) in zip(logs, words.names) where log.log.skipped > 0 {
            sentences.append("\(counted(log.log.skipped, "line")) of \(name) were skipped.")
        }
        if needsMask {
            sentences.append("Most differences are in digits only. To leave out all numbers: --mask '[0-9][0-9.,:]*'")
        }
        if matching.hasReusedID { sentences.append("An id in one of the logs is that of several threads.") }
        return sentences
    }

    /// At most three pairs of lines in another order, each once in its log, with different times.
    var hints: [String] {
        let runs = words.matching.runs
        let once = runs.map { run in
            Dictionary(run.lines.enumerated().map { ($1.skeleton, $0) }) { _, _ in -1 }.filter { $0.value >= 0 }
        }
        let common = once[0].compactMap { text, line in once[1][text].map { [line, $0] } }
        var (found, latest): ([String], [Int]?) = ([], nil)
        for pair in common.sorted(by: { $0[0] < $1[0] }) where found.count < 3 {
            guard let last = latest, pair[1] < last[1] else {
                latest = pair
                continue
            }
            let mayDiffer = logs.indices.allSatisfy { side in
                runs[side].lines[last[side]].lane != runs[side].lines[pair[side]].lane
                    && logs[side].time(last[side]) != logs[side].time(pair[side])
            }
            guard mayDiffer else { continue }
            let lines = logs.indices.map { side in
                let numbers = [last, pair].map { logs[side].log.messages[$0[side]].line }
                return "\(words.names[side]) (lines \(numbers[0]) and \(numbers[1]))"
            }
            let texts = [last, pair].map {
                ShownText.quoted(Excerpt.of(logs[0].log.messages[$0[0]].text, length: 60))
            }
            found.append(
                "A hint, which may be chance: \(texts[0]) comes before \(texts[1]) in \(lines[0]), after it in "
                    + "\(lines[1]).")
        }
        return found
    }

    /// True if more than half of the differing pairs differ only in digits.
    private var needsMask: Bool {
        let pairs = words.matching.differences.compactMap { difference -> [String]? in
            guard let first = difference.lines[0], let second = difference.lines[1] else { return nil }
            return [logs[0].log.messages[first].text, logs[1].log.messages[second].text]
        }.filter { $0[0] != $0[1] }
        return pairs.count { $0[0].filter { !$0.isNumber } == $0[1].filter { !$0.isNumber } } * 2 > pairs.count
    }
}
