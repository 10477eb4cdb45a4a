/// The result of a rule: it holds or it fails, with the reason and findings of what breaks it.
package struct RuleResult: Sendable {
    package let rule: Rule
    package let holds: Bool
    /// For example `12 handlers`, or `3 of 12 handlers ran on another thread`.
    package let explanation: String
    /// In the order of the recording, one for each observer or source location.
    let findings: [Finding]

    init(_ rule: Rule, holds: Bool, _ explanation: String, _ findings: [Finding] = []) {
        (self.rule, self.holds, self.explanation) = (rule, holds, explanation)
        self.findings = findings.map { finding in
            var finding = finding
            finding.evidence.removeAll { $0 < 0 }
            return finding
        }.sorted { ($0.evidence.first ?? .max, $0.problem) < ($1.evidence.first ?? .max, $1.problem) }
    }

    /// The findings that break the rule, or one that says why it fails; none if it holds.
    func reported(_ words: RecordWords) -> [ReportedFinding] {
        if holds { return [] }
        let all = findings.isEmpty ? [Finding(problem: explanation)] : findings
        return all.map { $0.reported(words, breaking: "\(rule)") }
    }
}
