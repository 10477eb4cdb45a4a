internal import TerminalText

/// The sentences of a report on two text logs besides the differences.
extension LogDifferences {
    /// - Parameter masks: expressions for `--mask`, if most differences are in digits only.
    func notes(pools: [String], masks: [String]) -> [String] {
        let (logs, unordered) = (self.logs.map(\.log), self.logs.first.threads.unordered)
        var sentences: [String] = []
        if matching.differences.isEmpty, logs.first.writers.count > 1 {
            let sameThreads = unordered.isEmpty ? "Each thread did the same; order" : "Order"
            sentences.append("\(sameThreads) between threads was not compared.")
        }
        if !unordered.isEmpty {
            let groups = unordered.map { ShownText.name($0) }.joined(separator: ", ")
            sentences.append(
                logs.first.unit != nil
                    ? "The runs of work of \(groups) were compared without their order."
                    : "The lines of \(groups) were compared without their order, because several threads may have written "
                        + "them. --unit REGEX keeps the order from a line that matches to the next.")
        }
        for side in RunSide.allCases where logs[side].skipped > 0 {
            sentences.append("\(counted(logs[side].skipped, "line")) of \(names[side]) in no form, and not compared.")
        }
        if !masks.isEmpty {
            let options = masks.map { ShellText.option("--mask", $0) }.joined(separator: " ")
            sentences.append("Most differences are in digits only. To leave them out: \(options)")
        }
        sentences += Self.unmatched([logs.first, logs.second], pools, unordered)
        return sentences
            + matching.reuses.map { lanes in
                let threads = RunSide.allCases.map { side in
                    let lines = lanes[side].map { "\(message(matching.lane($0, side).lines[0], side).line)" }
                    return "of line \(lines.joined(separator: ", ")) of \(names[side])"
                }
                return
                    "The threads \(threads[0]) do the same as those \(threads[1]), one after the other: an id may be "
                    + "that of several threads."
            }
    }

    /// A sentence for `--unit` and each of the pools if nothing matches it.
    static func unmatched(_ logs: [TextLog], _ pools: [String], _ used: [String]) -> [String] {
        let unit = logs.lazy.compactMap(\.unit).first { _ in
            !logs.contains { $0.messages.contains(where: \.beginsUnit) }
        }
        let options = (unit.map { ["--unit \($0)"] } ?? []) + pools.filter { !used.contains($0) }.map { "--pool \($0)" }
        return options.map { "Nothing matches \(ShownText.escaped($0))." }
    }

    /// At most three pairs of lines in another order, each once in its log, with different times.
    var hints: [String] {
        let runs = matching.runs
        let once = runs.map { run in
            Dictionary(run.lines.enumerated().map { ($1.skeleton, Int32($0)) }) { _, _ in -1 }.filter { $0.value >= 0 }
        }
        let common = once.first.compactMap { text, line in once.second[text].map { Pair(line, $0) } }
        func areInverted(_ one: Pair<Int32>, _ other: Pair<Int32>) -> Bool {
            RunSide.allCases.allSatisfy { side in
                let times = [one, other].map { message($0[side], side).time }
                return runs[side].lane(ofLine: one[side]) != runs[side].lane(ofLine: other[side])
                    && (times[0] == nil || times[0] != times[1])
            }
        }
        var (found, latest): ([String], Pair<Int32>?) = ([], nil)
        for pair in common.sorted(by: { $0.first < $1.first }) where found.count < 3 {
            guard let last = latest, pair.second < last.second else {
                latest = pair
                continue
            }
            guard areInverted(last, pair) else { continue }
            let texts = [last, pair].map {
                ShownText.quoted(Excerpt.of(message($0.first, .first).text, length: 60))
            }
            let lines = RunSide.allCases.map { side in
                let numbers = [last, pair].map { "\(message($0[side], side).line)" }
                return "\(names[side]) (lines \(numbers.joined(separator: " and ")))"
            }
            found.append(
                "A hint, which may be chance: \(texts[0]) comes before \(texts[1]) in \(lines[0]), after it in "
                    + "\(lines[1]).")
        }
        return found
    }
}
