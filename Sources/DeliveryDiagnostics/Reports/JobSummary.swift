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
        var text = "### \(Self.prose(title))\n\n\(Self.prose(totals))\n\n"
        if !findings.isEmpty { text += "| | kind or rule | finding | location |\n|---|---|---|---|\n" }
        var rest = "\n"
        for (number, finding) in findings.enumerated() {
            let row = Self.row(finding)
            rest = "\nand \(findings.count - number) more\n\n"
            guard text.utf8.count + row.utf8.count + rest.utf8.count <= length else { break }
            text += row
            rest = "\n"
        }
        text += rest
        return text.utf8.count <= length ? text : ""
    }

    private static func row(_ finding: ReportedFinding) -> String {
        let text = ([finding.text] + finding.lines).map(prose).joined(separator: "<br>")
        let location = finding.location.map { code($0.description) } ?? ""
        return "| \(finding.isProblem ? "problem" : "note") | \(code(finding.title)) | \(text) | \(location) |\n"
    }

    /// A span of code in a cell of a table.
    private static func code(_ text: String) -> String {
        let line = ShownText.escaped(text).replacing("|", with: "\\|")
        guard line.contains("`") else { return "`\(line)`" }
        let fence = String(repeating: "`", count: line.split { $0 != "`" }.map(\.count).max() ?? 0) + "`"
        return "\(fence) \(line) \(fence)"
    }

    /// One line in which no character has a meaning of its own.
    private static func prose(_ text: String) -> String {
        ShownText.escaped(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(#/[\\`*_\[\]|~$]/#) { "\\\($0.output)" }
    }
}
