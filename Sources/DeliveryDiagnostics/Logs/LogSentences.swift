internal import DeliveryRecording
internal import TerminalText

/// The sentences of a report on logs besides the differences.
struct LogSentences {
    let comparison: LogComparison
    private var names: Pair<String> { comparison.names }

    init(_ comparison: LogComparison) { self.comparison = comparison }

    var same: String {
        let (lines, threads) = (counted(comparison.lines, "line"), counted(comparison.threads, "thread"))
        let isOne = comparison.threads == 1 || comparison.isExact
        let order =
            isOne
            ? []
            : comparison.unordered.isEmpty
                ? ["Each thread did the same; order between threads was not compared."]
                : ["Order between threads was not compared."]
        return (["the same: \(lines) by \(threads)"] + order + notes + hints).joined(separator: "\n")
    }

    var notes: [String] {
        [withoutOrder, skipped, masks].compactMap { $0 } + comparison.unmatched.map(Self.unmatched) + reuses
    }

    /// - Parameter option: an option with its expression.
    static func unmatched(_ option: String) -> String { "Nothing matches \(ShownText.escaped(option))." }

    /// Lines that another run has in another order.
    var hints: [String] {
        comparison.inversions.map { pair in
            let texts = [pair.texts.0, pair.texts.1].map { ShownText.quoted(Excerpt.of($0, length: 60)) }
            let (one, other) = (pair.lines.first, pair.lines.second)
            return "A hint, which may be chance: \(texts[0]) comes before \(texts[1]) in \(names.first) "
                + "(lines \(one.0) and \(one.1)), after it in \(names.second) (lines \(other.0) and \(other.1))."
        }
    }

    private var withoutOrder: String? {
        guard !comparison.unordered.isEmpty else { return nil }
        let shown = comparison.unordered.prefix(5).map { ShownText.name($0) }
        let rest = comparison.unordered.count - shown.count
        let groups = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) others" : "")
        return comparison.hasUnits
            ? "The runs of work of \(groups) were compared without their order."
            : "The lines of \(groups) were compared without their order, because several threads may have written them. "
                + "--unit REGEX keeps the order from a line that matches to the next."
    }

    private var skipped: String? {
        let counts = RunSide.allCases.compactMap { side in
            comparison.skipped[side] > 0 ? "\(counted(comparison.skipped[side], "line")) of \(names[side])" : nil
        }
        return counts.isEmpty ? nil : "In no form, and not compared: \(counts.joined(separator: ", "))."
    }

    private var masks: String? {
        guard !comparison.masks.isEmpty else { return nil }
        return "Most differences are in digits only. To leave them out: "
            + comparison.masks.map { ShellText.option("--mask", $0) }.joined(separator: " ")
    }

    private var reuses: [String] {
        comparison.reuses.map { reuse in
            let lines = reuse.others.map(String.init).joined(separator: ", ")
            return "The thread of line \(reuse.line) of \(names[reuse.side]) does what those of lines \(lines) of "
                + "\(names[reuse.side.opposite]) do, one after the other: it may be several threads with one id."
        }
    }
}
