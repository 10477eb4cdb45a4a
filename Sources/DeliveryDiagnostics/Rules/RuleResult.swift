/// The result of a rule: it holds or it fails, with the reason and the evidence.
package struct RuleResult: Sendable {
    /// Records that break a rule, of one observer or at one source location.
    struct Violation: Sendable, Hashable {
        /// For example `observer 3 of Saved ran on worker 3 times`.
        var text: String
        /// Indices of entries; -1 is left out. The first has the source location of the violation.
        var evidence: [Int32]
        /// More evidence, one line each.
        var details: [String] = []
    }

    package let rule: Rule
    package let holds: Bool
    /// For example `12 handlers`, or `3 of 12 handlers ran on another thread`.
    package let explanation: String
    /// In the order of the recording.
    let violations: [Violation]

    /// The rule holds.
    init(_ rule: Rule, holds explanation: String) {
        (self.rule, holds, self.explanation, violations) = (rule, true, explanation, [])
    }

    /// The rule does not hold.
    init(_ rule: Rule, fails explanation: String, _ violations: [Violation] = []) {
        self.rule = rule
        holds = false
        self.explanation = explanation
        self.violations = violations.map { violation in
            var violation = violation
            violation.evidence.removeAll { $0 < 0 }
            return violation
        }.sorted { ($0.evidence.first ?? .max, $0.text) < ($1.evidence.first ?? .max, $1.text) }
    }
}
