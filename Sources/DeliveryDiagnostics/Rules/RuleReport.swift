internal import DeliveryRecording
internal import TerminalText

/// Formats the results of rules as text, as JSON, and as a suite for JUnit.
package struct RuleReport {
    /// A line, and the result of the rule if it begins with it: `ok` or `FAILED`. The caller chooses its color.
    package typealias Line = (text: String, result: String?)

    private static let maximumReported = 10

    private let check: RuleCheck

    package init(_ check: RuleCheck) { self.check = check }

    /// Lines of at most `width` characters, unless a single word is longer.
    package func text(width: Int = .max) -> [Line] {
        check.results.flatMap { result -> [Line] in
            let word = result.holds ? "ok" : "FAILED"
            let first = "\(DisplayWidth.pad(word, to: 8))\(result.rule): \(result.explanation)"
            return WrappedText.lines(first, width: width, hanging: 8).enumerated().map { ($1, $0 == 0 ? word : nil) }
                + evidence(of: result).flatMap { line in
                    WrappedText.lines(line.text, width: width, indent: "  " + line.indent, hanging: 2)
                }.map { ($0, nil) }
        }
    }

    /// For example `5 passed, 1 failed`.
    package var totals: String { "\(check.results.count - check.failedCount) passed, \(check.failedCount) failed" }

    /// The findings that break a rule.
    package var findings: [ReportedFinding] { check.results.flatMap { $0.reported(check.words) } }

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        let recording = check.words.recording
        return try JSONText.of([
            "source": recording.source, "holds": check.holds, "isTruncated": recording.incompleteness != nil,
            "ruleCount": check.results.count, "failedCount": check.failedCount,
            "rules": check.results.map { result in
                [
                    "rule": "\(result.rule)", "holds": result.holds, "text": result.explanation,
                    "violationCount": result.findings.count,
                    "violations": result.findings.map { finding in
                        finding.object(check.words).merging(["text": finding.sentence]) { own, _ in own }
                    },
                ] as [String: Any]
            },
        ])
    }

    /// A suite with a case for each rule. Its time is that of the recording.
    package var suite: ReportedSuite {
        let recording = check.words.recording
        let length = recording.entries.last.map { max(0, recording.elapsed($0)) } ?? 0
        let cases = check.results.map { result in
            ReportedSuite.Case(
                "\(result.rule)", failure: result.holds ? nil : result.explanation,
                details: evidence(of: result).map { $0.indent + $0.text })
        }
        return ReportedSuite(name: recording.source, cases: cases, duration: .nanoseconds(length))
    }

    private func evidence(of result: RuleResult) -> [(indent: String, text: String)] {
        let more = result.findings.count - Self.maximumReported
        return result.findings.prefix(Self.maximumReported).flatMap { finding in
            [("", finding.sentence)] + finding.lines(check.words).map { ("  ", $0) }
        } + (more > 0 ? [("", "and \(more) more")] : [])
    }
}
