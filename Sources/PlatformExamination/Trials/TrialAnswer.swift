/// The answer of one side to a question.
package struct TrialAnswer: Sendable, Hashable {
    package var verdict: TrialVerdict
    /// The observed events, for any verdict.
    package var observed: String

    package init(verdict: TrialVerdict, observed: String) {
        self.verdict = verdict
        self.observed = observed
    }
}
