internal import TerminalText
internal import ThreadedNotifications

/// The findings of a command as Markdown, for the summary of a job.
package enum JobSummary {
    /// What a job's summary may have, in bytes.
    package static let maximumLength = 1 << 20

    /// A heading, the totals, and a table of the findings. What does not fit is left out, and its number is told.
    ///
    /// - Parameter length: how many bytes it may have.
    package static func markdown(
        _ title: String, totals: String, _ findings: [Finding], length: Int = maximumLength
    ) -> String {
        var text = "### \(prose(title))\n\n\(prose(totals))\n\n"
        if !findings.isEmpty { text += "| | kind or rule | finding | location |\n|---|---|---|---|\n" }
        for (number, finding) in findings.enumerated() {
            let (row, rest) = (row(finding), "\nand \(findings.count - number) more\n")
            if text.utf8.count + row.utf8.count + rest.utf8.count >= length {
                text += rest
                break
            }
            text += row
        }
        return text.utf8.count < length ? text + "\n" : ""
    }

    private static func row(_ finding: Finding) -> String {
        let text = ([finding.problem] + finding.lines).map(prose).joined(separator: "<br>")
        let location = finding.location.map { code($0.description) } ?? ""
        return "| \(finding.severity) | \(code(finding.title)) | \(text) | \(location) |\n"
    }

    /// A span of code in a cell of a table. It cannot contain backticks.
    private static func code(_ text: String) -> String {
        "`\(ShownText.escaped(text).replacing("|", with: "\\|").replacing("`", with: "'"))`"
    }

    /// One line in which no character has a meaning of its own.
    private static func prose(_ text: String) -> String {
        ShownText.escaped(text).replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(#/[\\`*_\[\]|~$]/#) { "\\\($0.output)" }
    }
}
