internal import TerminalText
internal import ThreadedNotifications

/// The findings of a command as Markdown, for the summary of a job.
package struct JobSummary {
    /// What a job's summary may have.
    package static let maximumLength = 1 << 20

    private let title: String
    private let totals: String
    private let findings: [ReportedFinding]

    /// - Parameter title: the command.
    package init(_ title: String, totals: String, _ findings: [ReportedFinding]) {
        (self.title, self.totals, self.findings) = (title, totals, findings)
    }

    /// A heading, the totals, and a table of the findings. What does not fit is left out, and its number is told.
    ///
    /// - Parameter length: how many bytes it may have.
    package func markdown(length: Int = maximumLength) -> String {
        var text = "### \(Self.escaped(title))\n\n\(Self.escaped(totals))\n\n"
        guard text.utf8.count <= length else { return "" }
        if findings.isEmpty { return text }
        let heading = "| | kind or rule | finding | location |\n|---|---|---|---|\n"
        func rest(_ count: Int) -> String { count == 0 ? "\n" : "\nand \(count) more\n\n" }
        var rows = heading
        var reported = 0
        for finding in findings {
            let row = Self.row(finding)
            let end = rest(findings.count - reported - 1)
            guard text.utf8.count + rows.utf8.count + row.utf8.count + end.utf8.count <= length else { break }
            rows += row
            reported += 1
        }
        text += (reported == 0 ? "" : rows) + rest(findings.count - reported)
        return text.utf8.count <= length ? text : ""
    }

    private static func row(_ finding: ReportedFinding) -> String {
        let remedy = finding.lines.last { $0.hasPrefix("remedy: ") }.map { "<br>" + escaped($0) } ?? ""
        let location = finding.location.map { code($0.description) } ?? ""
        return "| \(finding.isProblem ? "problem" : "note") | \(code(finding.title)) | "
            + "\(escaped(finding.text))\(remedy) | \(location) |\n"
    }

    /// A span of code, also in a cell of a table.
    private static func code(_ text: String) -> String {
        let line = replacing(text) { $0 == "|" ? "\\|" : nil }
        let longest = line.unicodeScalars.split { $0 != "`" }.map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: longest + 1)
        return longest == 0 ? fence + line + fence : "\(fence) \(line) \(fence)"
    }

    /// Prose in which no character has a meaning of its own.
    private static func escaped(_ text: String) -> String {
        replacing(text) { scalar in
            switch scalar {
            case "<": "&lt;"
            case "&": "&amp;"
            case "\\", "`", "*", "_", "[", "]", "|", "~", "$": "\\\(scalar)"
            default: nil
            }
        }
    }

    /// One line, in which some characters are replaced.
    private static func replacing(_ text: String, _ other: (Unicode.Scalar) -> String?) -> String {
        ShownText.escaped(text).unicodeScalars.map { other($0) ?? "\($0)" }.joined()
    }
}
