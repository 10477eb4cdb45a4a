internal import DeliveryRecording
internal import TerminalText

/// The sentences of a report on two text logs besides the differences.
struct LogNotes {
    /// Pools and names without ids: what was compared without its order.
    let unordered: [String]
    /// The numbers of lines that are in no form.
    let skipped: Pair<Int>
    /// Expressions for `--mask`, if most differences are in digits only.
    let masks: [String]
    /// Lines that another run has in another order.
    let hints: [String]
    /// A sentence about the order between threads, if there are several.
    let order: String?
    private(set) var sentences: [String] = []

    init(_ explained: LogDifferences, pools: [String]) {
        let (matching, logs, names) = (explained.matching, explained.logs.logs, explained.names)
        unordered = explained.logs.unordered
        skipped = logs.map(\.skipped)
        masks = matching.isUndecided ? [] : explained.masks
        hints = matching.differences.isEmpty ? Self.inversions(matching, logs, names) : []
        let sameThreads = unordered.isEmpty ? "Each thread did the same; order" : "Order"
        order = logs.first.writers.count == 1 ? nil : "\(sameThreads) between threads was not compared."
        if !unordered.isEmpty {
            let shown = unordered.prefix(5).map { ShownText.name($0) }
            let rest = unordered.count - shown.count
            let groups = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) others" : "")
            sentences.append(
                logs.first.unit != nil
                    ? "The runs of work of \(groups) were compared without their order."
                    : "The lines of \(groups) were compared without their order, because several threads may have written "
                        + "them. --unit REGEX keeps the order from a line that matches to the next.")
        }
        let counts = RunSide.allCases.filter { skipped[$0] > 0 }.map {
            "\(counted(skipped[$0], "line")) of \(names[$0])"
        }
        if !counts.isEmpty { sentences.append("In no form, and not compared: \(counts.joined(separator: ", ")).") }
        if !masks.isEmpty {
            sentences.append(
                "Most differences are in digits only. To leave them out: "
                    + masks.map { ShellText.option("--mask", $0) }.joined(separator: " "))
        }
        sentences += Self.unmatched([logs.first, logs.second], pools, unordered)
        sentences += matching.reuses.map { reuse in
            func line(_ message: Int32, _ side: RunSide) -> String { "\(logs[side].messages[Int(message)].line)" }
            let (own, other) = (reuse.side, reuse.side.opposite)
            let others = reuse.others.map { line($0, other) }.joined(separator: ", ")
            return "The thread of line \(line(reuse.line, own)) of \(names[own]) does what those of lines \(others) of "
                + "\(names[other]) do, one after the other: it may be several threads with one id."
        }
    }

    /// A sentence for `--unit` and each of the pools if nothing matches it.
    static func unmatched(_ logs: [TextLog], _ pools: [String], _ used: some Collection<String>) -> [String] {
        let unit = logs.lazy.compactMap(\.unit).first { _ in
            !logs.contains { $0.messages.contains(where: \.beginsUnit) }
        }
        let options = (unit.map { ["--unit \($0)"] } ?? []) + pools.filter { !used.contains($0) }.map { "--pool \($0)" }
        return options.map { "Nothing matches \(ShownText.escaped($0))." }
    }

    /// At most three pairs of lines in another order, each once in its log, with different times.
    private static func inversions(
        _ matching: LaneMatching, _ logs: Pair<TextLog>, _ names: Pair<String>
    ) -> [String] {
        let once = matching.runs.map { run in
            Dictionary(run.lines.enumerated().map { ($1.skeleton, $0) }) { _, _ in -1 }.filter { $0.value >= 0 }
        }
        let common = once.first.compactMap { text, line in once.second[text].map { Pair(line, $0) } }
        func areInverted(_ one: Pair<Int>, _ other: Pair<Int>) -> Bool {
            RunSide.allCases.allSatisfy { side in
                let (time, otherTime) = (logs[side].messages[one[side]].time, logs[side].messages[other[side]].time)
                let lines = matching.runs[side].lines
                return lines[one[side]].lane != lines[other[side]].lane && (time == nil || time != otherTime)
            }
        }
        var (found, latest, used): ([String], Pair<Int>?, Int?) = ([], nil, nil)
        for pair in common.sorted(by: { $0.first < $1.first }) where found.count < 3 {
            guard let last = latest, pair.second < last.second else {
                latest = pair
                continue
            }
            guard used != last.first, areInverted(last, pair) else { continue }
            used = last.first
            let texts = [last, pair].map {
                ShownText.quoted(Excerpt.of(logs.first.messages[$0.first].text, length: 60))
            }
            func lines(_ side: RunSide) -> String {
                "lines \(logs[side].messages[last[side]].line) and \(logs[side].messages[pair[side]].line)"
            }
            found.append(
                "A hint, which may be chance: \(texts[0]) comes before \(texts[1]) in \(names.first) "
                    + "(\(lines(.first))), after it in \(names.second) (\(lines(.second))).")
        }
        return found
    }
}
