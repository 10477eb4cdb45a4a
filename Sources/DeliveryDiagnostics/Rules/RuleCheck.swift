package import DeliveryRecording

/// Checks rules against a recording.
///
/// A rule about a name or a thread that the recording does not contain fails, because a rule with a misspelt name could
/// not fail otherwise. Rules that begin with `no` or `at most` hold then: they say that something does not happen. For
/// the same reason, an incomplete recording is a failure, unless that is allowed.
///
/// Cost: a pass over the index for each rule; rules about findings share one diagnosis.
package struct RuleCheck: Sendable {
    package let results: [RuleResult]
    let words: RecordWords
    /// See `Diagnosis`; nil without a rule about findings.
    package let unusedAccepted: [String]?

    /// - Parameters:
    ///   - limits: the limits of findings.
    ///   - accepted: findings that do not break a rule.
    ///   - allowsIncomplete: false if an incomplete recording is a failure of its own.
    package init(
        _ rules: [Rule], _ index: RecordingIndex, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), allowsIncomplete: Bool = false
    ) {
        let words = RecordWords(index)
        self.words = words
        var shared: Diagnosis?
        let incomplete = Self.incomplete(index.recording)
        let checked = rules.map { rule -> RuleResult in
            switch rule.clause {
            case .complete: return incomplete ?? RuleResult(rule, holds: true, "")
            case .noFinding(let findings):
                let diagnosis = shared ?? Diagnosis(index, limits: limits, accepted: accepted)
                shared = diagnosis
                return Self.noFinding(rule, findings, diagnosis)
            default: return CheckedRule(rule: rule, words: words).result()
            }
        }
        results = (allowsIncomplete ? [] : [incomplete].compactMap(\.self)) + checked
        unusedAccepted = shared?.unusedAccepted
    }

    package var holds: Bool { results.allSatisfy(\.holds) }

    package var failedCount: Int { results.count { !$0.holds } }

    /// `the recording is complete`: checked of every recording, because other rules may hold for what is missing. Nil
    /// if it is.
    private static func incomplete(_ recording: Recording) -> RuleResult? {
        recording.incompleteness.map {
            RuleResult(Rule(.complete), holds: false, $0, recording.problems.map { Finding(problem: "\($0)") })
        }
    }

    /// `no finding`, `no problem`, `no wrongThread`.
    private static func noFinding(_ rule: Rule, _ wanted: Rule.Findings, _ diagnosis: Diagnosis) -> RuleResult {
        let found = diagnosis.findings.filter { finding in
            switch wanted {
            case .all: true
            case .problems: finding.severity == .problem
            case .kind(let kind): finding.isCalled(kind)
            }
        }
        let what = if case .problems = wanted { "problem" } else { "finding" }
        let count = found.isEmpty ? "no \(what)s" : counted(found.count, what)
        let all = count + (diagnosis.acceptedCount == 0 ? "" : ", and \(diagnosis.acceptedCount) accepted")
        return RuleResult(rule, holds: found.isEmpty, all, found)
    }
}
