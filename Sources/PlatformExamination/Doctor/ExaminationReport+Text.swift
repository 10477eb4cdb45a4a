internal import DeliveryDiagnostics

extension ExaminationReport {
    /// Colours the mark at the beginning of a cell, `ok` or `NO`.
    package typealias Paint = (_ mark: String, _ isKept: Bool) -> String

    /// The examination as text: a table if the line is wide enough, otherwise a few lines for each fact.
    ///
    /// - Parameters:
    ///   - width: the number of columns of a line.
    ///   - paint: colours a mark.
    package func text(width: Int, paint: Paint = { mark, _ in mark }) -> String {
        let lines = width >= Self.leastTableWidth ? table(width: width, paint) : blocks(width: max(width, 40), paint)
        return (lines + [""] + WrappedText.lines(summary, width: width)).joined(separator: "\n")
    }

    private static let leastTableWidth = 132

    /// The number of promises that each side keeps.
    package var summary: String {
        let findings = rows.flatMap(\.findings)
        let ours = findings.compactMap(\.ours)
        func kept(_ answers: [TrialAnswer]) -> String {
            "\(answers.count { $0.verdict == .kept }) of \(answers.count) as expected"
        }
        let missing = findings.count - ours.count
        return "Foundation here: \(kept(findings.map(\.foundation))). ThreadedNotifications: \(kept(ours))"
            + (missing == 0 ? "." : ", and \(missing) without a counterpart.")
    }

    // MARK: Blocks

    private func blocks(width: Int, _ paint: Paint) -> [String] {
        var lines: [String] = []
        for row in rows {
            if !lines.isEmpty { lines.append("") }
            lines += hanging("\(row.number)", indent: 5, "\(row.area): \(row.expected)", width: width)
            var shown: String?
            for finding in row.findings {
                lines += hanging("", indent: 5, finding.claim, width: width)
                // A sentence that several questions share is printed once.
                if let sentence = finding.sentence, sentence != shown {
                    lines += hanging("", indent: 7, "“\(sentence)”", width: width)
                }
                shown = finding.sentence
                for (side, cell) in [
                    ("Foundation", Cell(finding.foundation)), ("ThreadedNotifications", Cell(finding)),
                ] {
                    let answer = cell.lines(width: width - 30, paint)
                    lines.append("       \(padded(side, to: 23))\(answer[0])")
                    lines += answer.dropFirst().map { String(repeating: " ", count: 30) + $0 }
                }
            }
        }
        return lines
    }

    private func hanging(_ head: String, indent: Int, _ text: String, width: Int) -> [String] {
        WrappedText.lines(text, width: width - indent).enumerated().map { number, line in
            padded(number == 0 ? head : "", to: indent) + line
        }
    }

    // MARK: Table

    private func table(width: Int, _ paint: Paint) -> [String] {
        let (number, area) = (4, rows.map(\.area.count).max() ?? 0)
        let rest = width - number - area - 8
        // Foundation's column needs more room, because its answers are longer.
        let (expected, foundation) = (rest * 2 / 5, rest * 7 / 20)
        let widths = [number, area, expected, foundation, rest - expected - foundation]
        var lines = [
            line(["fact", "area", "expected", "Foundation here", "ThreadedNotifications"], widths)
        ]
        for row in rows {
            lines.append("")
            var shown: String?
            for (index, finding) in row.findings.enumerated() {
                var claim = WrappedText.lines(finding.claim, width: expected)
                if let sentence = finding.sentence, sentence != shown {
                    claim += WrappedText.lines("“\(sentence)”", width: expected)
                }
                shown = finding.sentence
                let columns = [
                    index == 0 ? [row.number] : [], index == 0 ? [row.area] : [], claim,
                    Cell(finding.foundation).lines(width: foundation, paint),
                    Cell(finding).lines(width: widths[4], paint),
                ]
                let marked = [0, 0, 0, Cell.markWidth(paint, finding.foundation), 0]
                for index in 0..<(columns.map(\.count).max() ?? 0) {
                    let cells = columns.map { index < $0.count ? $0[index] : "" }
                    lines.append(line(cells, zip(widths, marked).map { $0 + (index == 0 ? $1 : 0) }))
                }
            }
        }
        return lines
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = zip(cells, widths).map { padded($0, to: $1) }.joined(separator: "  ")
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    private func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

/// The cell of one side: a mark and the observed events.
private struct Cell {
    /// Nil if this package has no counterpart.
    var isKept: Bool?
    var text: String

    init(_ answer: TrialAnswer) {
        isKept = answer.verdict == .kept
        text = answer.observed
    }

    /// The cell of this package.
    init(_ finding: ExaminationReport.Finding) {
        isKept = finding.ours.map { $0.verdict == .kept }
        text = finding.ours?.observed ?? finding.reason ?? "not asked"
    }

    func lines(width: Int, _ paint: ExaminationReport.Paint) -> [String] {
        let mark = isKept.map { paint(Self.mark($0), $0) } ?? "- "
        return WrappedText.lines(text, width: width - 4).enumerated().map { number, line in
            (number == 0 ? "\(mark)  " : "    ") + line
        }
    }

    private static func mark(_ isKept: Bool) -> String { isKept ? "ok" : "NO" }

    /// The number of invisible characters that `paint` adds to a mark.
    static func markWidth(_ paint: ExaminationReport.Paint, _ answer: TrialAnswer) -> Int {
        let isKept = answer.verdict == .kept
        return paint(mark(isKept), isKept).count - mark(isKept).count
    }
}
