internal import DeliveryRecording

/// `no finding`, `no problem`, `no wrongThread`: the findings of `Diagnosis`.
enum NoFinding {
    static func result(_ rule: Rule, _ wanted: Rule.Findings, _ diagnosis: Diagnosis) -> RuleResult {
        let found = diagnosis.findings.filter { finding in
            switch wanted {
            case .all: true
            case .problems: finding.severity == .problem
            case .kind(let kind): finding.kind == kind
            }
        }
        let accepted = diagnosis.acceptedCount == 0 ? "" : ", and \(diagnosis.acceptedCount) accepted"
        let count = found.isEmpty ? "no findings" : counted(found.count, "finding")
        guard !found.isEmpty else { return RuleResult(rule, holds: count + accepted) }
        return RuleResult(
            rule, fails: count + accepted,
            found.map { finding in
                RuleResult.Violation(
                    text: "\(finding.severity.rawValue): \(finding.problem)", evidence: finding.evidence,
                    details: finding.details + ["remedy: \(finding.remedy)"])
            })
    }
}
