package import DeliveryRecording

/// Checks rules against a recording.
///
/// A rule about a name or a thread that the recording does not contain fails, because a rule with a misspelt name could
/// not fail otherwise. Rules that begin with `no` hold then: they say that something does not happen. For the same
/// reason, an incomplete recording is a failure.
///
/// Cost: a pass over the index for each rule; rules about findings share one diagnosis.
package struct RuleCheck: Sendable {
    package let results: [RuleResult]
    let words: RecordWords
    /// See `Diagnosis`; empty without a rule about findings.
    package let unusedAccepted: [String]

    /// - Parameters:
    ///   - limits: the limits of findings.
    ///   - accepted: findings that do not break a rule.
    package init(
        _ rules: [Rule], _ index: RecordingIndex, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings()
    ) {
        let words = RecordWords(index)
        var shared: Diagnosis?
        func diagnosis() -> Diagnosis {
            let diagnosis = shared ?? Diagnosis(index, limits: limits, accepted: accepted)
            shared = diagnosis
            return diagnosis
        }
        results = ((index.recording.incompleteness == nil ? [] : [Rule(.complete)]) + rules).map {
            CheckedRule($0, words, diagnosis: diagnosis).result()
        }
        self.words = words
        unusedAccepted = shared?.unusedAccepted ?? []
    }

    package var holds: Bool { failedCount == 0 }

    package var failedCount: Int { results.count { !$0.holds } }
}

/// The result of a rule: it holds or it fails, with the reason and findings of what breaks it.
package struct RuleResult: Sendable {
    package let rule: Rule
    package let holds: Bool
    /// For example `12 handlers`, or `3 of 12 handlers ran on another thread`.
    package let explanation: String
    /// In the order of the recording, one for each observer or source location.
    let findings: [Finding]

    /// The findings that break the rule, or one that says why it fails; none if it holds.
    func reported(_ words: RecordWords) -> [ReportedFinding] {
        if holds { return [] }
        let all = findings.isEmpty ? [Finding(problem: explanation)] : findings
        return all.map { $0.reported(words, breaking: "\(rule)") }
    }
}
