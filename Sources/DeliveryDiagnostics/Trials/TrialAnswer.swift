/// What came of a question to one side.
public struct TrialAnswer: Sendable, Hashable {
    public var verdict: TrialVerdict
    /// What was seen, whatever the verdict.
    public var observed: String

    public init(verdict: TrialVerdict, observed: String) {
        self.verdict = verdict
        self.observed = observed
    }
}
