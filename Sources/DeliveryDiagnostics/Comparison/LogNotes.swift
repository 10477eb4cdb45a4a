internal import DeliveryRecording
internal import TerminalText

/// What a report on two text logs says besides the differences.
struct LogNotes {
    /// Pools and names without ids: what was compared without its order.
    let unordered: [String]
    /// The numbers of lines that are in no form.
    let skipped: Pair<Int>
    /// Expressions for `--mask`, if most differences are in digits only.
    let masks: [String]
    /// Lines that another run has in another order.
    let hints: [String]
    /// What was compared by thread, if the logs are the same.
    let order: String?
    let sentences: [String]

    init(
        _ matching: LaneMatching, _ logs: ComparedLogs, _ explained: LogDifferences, _ options: RunComparison.Options
    ) {
        let (isExact, all, names) = (options.isExact, logs.logs, explained.names)
        unordered = isExact ? [] : logs.unordered
        skipped = all.map(\.skipped)
        masks = matching.isUndecided ? [] : explained.masks
        hints = isExact || !matching.differences.isEmpty ? [] : Self.inversions(matching, all, names)
        order =
            all.first.writers.count == 1 || isExact
            ? nil
            : "\(unordered.isEmpty ? "Each thread did the same; order" : "Order") between threads was not compared."
        let unused = options.pools.filter { !logs.unordered.contains($0) }.map { "--pool \($0)" }
        let notes = [
            Self.withoutOrder(unordered, hasUnits: all.first.unit != nil), Self.skipped(skipped, names),
            Self.proposal(masks),
        ]
        sentences =
            notes.compactMap(\.self)
            + (TextLog.unmatchedUnit([all.first, all.second]) + unused).map(Self.unmatched)
            + matching.reuses.map { Self.sentence($0, all, names) }
    }

    /// - Parameter option: an option with its expression.
    static func unmatched(_ option: String) -> String { "Nothing matches \(ShownText.escaped(option))." }

    private static func withoutOrder(_ unordered: [String], hasUnits: Bool) -> String? {
        guard !unordered.isEmpty else { return nil }
        let shown = unordered.prefix(5).map { ShownText.name($0) }
        let rest = unordered.count - shown.count
        let groups = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) others" : "")
        return hasUnits
            ? "The runs of work of \(groups) were compared without their order."
            : "The lines of \(groups) were compared without their order, because several threads may have written them. "
                + "--unit REGEX keeps the order from a line that matches to the next."
    }

    private static func skipped(_ skipped: Pair<Int>, _ names: Pair<String>) -> String? {
        let counts = RunSide.allCases.filter { skipped[$0] > 0 }.map {
            "\(counted(skipped[$0], "line")) of \(names[$0])"
        }
        return counts.isEmpty ? nil : "In no form, and not compared: \(counts.joined(separator: ", "))."
    }

    private static func proposal(_ masks: [String]) -> String? {
        guard !masks.isEmpty else { return nil }
        return "Most differences are in digits only. To leave them out: "
            + masks.map { ShellText.option("--mask", $0) }.joined(separator: " ")
    }

    private static func sentence(
        _ reuse: LaneMatching.Reuse, _ logs: Pair<TextLog>, _ names: Pair<String>
    ) -> String {
        func line(_ message: Int32, _ side: RunSide) -> String { "\(logs[side].messages[Int(message)].line)" }
        let others = reuse.others.map { line($0, reuse.side.opposite) }.joined(separator: ", ")
        return "The thread of line \(line(reuse.line, reuse.side)) of \(names[reuse.side]) does what those of lines "
            + "\(others) of \(names[reuse.side.opposite]) do, one after the other: it may be several threads with one id."
    }

    /// At most three pairs of lines in another order, each once in its log, with different times.
    private static func inversions(
        _ matching: LaneMatching, _ logs: Pair<TextLog>, _ names: Pair<String>
    ) -> [String] {
        let once = matching.runs.map { run in
            Dictionary(run.lines.enumerated().map { ($1.skeleton, $0) }, uniquingKeysWith: { _, _ in -1 })
                .filter { $0.value >= 0 }
        }
        let common = once.first.compactMap { text, line in once.second[text].map { Pair(line, $0) } }
            .sorted { $0.first < $1.first }
        func areInverted(_ one: Pair<Int>, _ other: Pair<Int>) -> Bool {
            RunSide.allCases.allSatisfy { side in
                let (time, otherTime) = (logs[side].messages[one[side]].time, logs[side].messages[other[side]].time)
                let lines = matching.runs[side].lines
                return lines[one[side]].lane != lines[other[side]].lane && (time == nil || time != otherTime)
            }
        }
        var found: [String] = []
        var (latest, used): (Pair<Int>?, Int?) = (nil, nil)
        for pair in common where found.count < 3 {
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
