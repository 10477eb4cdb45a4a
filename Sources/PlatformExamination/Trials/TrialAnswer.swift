/// The answer of one side to a question.
public struct TrialAnswer: Sendable, Hashable {
    public var verdict: TrialVerdict
    /// The observed events, for any verdict.
    public var observed: String

    public init(verdict: TrialVerdict, observed: String) {
        self.verdict = verdict
        self.observed = observed
    }
}
