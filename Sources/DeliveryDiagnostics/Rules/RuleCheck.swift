package import DeliveryRecording
package import TerminalText
internal import ThreadedNotifications

/// The result of a rule: it holds or it fails, with the reason and findings of what breaks it.
struct RuleResult: Sendable {
    let rule: Rule
    let holds: Bool
    /// For example `12 handlers`, or `3 of 12 handlers ran on another thread`.
    let explanation: String
    /// In the order of the recording, one for each observer or source location.
    let findings: [Finding]

    /// The findings, or one that says why the rule fails, as problems with its name; none if it holds.
    var violations: [Finding] {
        if holds { return [] }
        return (findings.isEmpty ? [Finding(problem: explanation)] : findings).map { $0.breaking(rule.text) }
    }

    /// The lines after that of the rule: its first findings with their evidence.
    var lines: [String] {
        let more = findings.count - 10
        return findings.prefix(10).flatMap { [$0.sentence] + $0.lines.map { "  \($0)" } }
            + (more > 0 ? ["and \(more) more"] : [])
    }
}

/// Checks rules against a recording.
///
/// A rule about a name or a thread that the recording does not contain fails, because a rule with a misspelt name could
/// not fail otherwise. Rules that begin with `no` hold then. For the same reason, an incomplete recording is a failure.
///
/// Cost: a pass over the index for each rule; rules about findings share one diagnosis.
package struct RuleCheck: Sendable {
    let results: [RuleResult]
    var recording: Recording { words.recording }
    private let words: RecordWords
    /// See `Diagnosis`; empty without a rule about findings.
    package let unusedAccepted: [String]

    /// - Parameter accepted: findings that do not break a rule.
    package init(
        _ rules: [Rule], _ index: RecordingIndex, limits: DiagnosisLimits = .usual,
        accepted: AcceptedFindings = AcceptedFindings()
    ) {
        let words = RecordWords(index: index)
        let diagnosis =
            rules.contains(where: \.isAboutFindings) ? Diagnosis(index, limits: limits, accepted: accepted) : nil
        let complete = Rule(form: .complete, text: RuleForm.complete.pattern)
        results = ((index.recording.incompleteness == nil ? [] : [complete]) + rules).map {
            CheckedRule($0, words, diagnosis: diagnosis).result()
        }
        self.words = words
        unusedAccepted = diagnosis?.unusedAccepted ?? []
    }

    package var holds: Bool { failedCount == 0 }

    var failedCount: Int { results.count { !$0.holds } }

    /// For example `5 passed, 1 failed`.
    package var totals: String { "\(results.count - failedCount) passed, \(failedCount) failed" }

    /// The findings that break a rule.
    package var findings: [Finding] { results.flatMap(\.violations) }

    /// Lines of at most `width` characters, unless a single word is longer. The first of a rule begins with `ok` or
    /// `FAILED`, the others with a space.
    package func text(width: Int = .max, palette: Palette = Palette(isColored: false)) -> [String] {
        results.flatMap { result in
            let state = result.holds ? palette.good("ok") + "      " : palette.bad("FAILED") + "  "
            let first = "\(state)\(palette.plain("\(result.rule.text): \(result.explanation)"))"
            return WrappedText.lines(first, width: width, hanging: 8)
                + result.lines.flatMap { WrappedText.lines(palette.plain($0), width: width, indent: "  ", hanging: 2) }
        }
    }

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        try JSONText.of([
            "source": recording.source, "holds": holds, "isTruncated": recording.incompleteness != nil,
            "ruleCount": results.count, "failedCount": failedCount,
            "rules": results.map { result in
                [
                    "rule": result.rule.text, "holds": result.holds, "text": result.explanation,
                    "violationCount": result.findings.count, "violations": result.findings.map { $0.object(words) },
                ] as [String: Any]
            },
        ])
    }
}
