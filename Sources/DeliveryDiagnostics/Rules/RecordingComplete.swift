internal import DeliveryRecording

/// `the recording is complete`: checked of every recording, because other rules may hold for what is missing.
enum RecordingComplete {
    /// Nil if it is.
    static func failure(_ recording: Recording) -> RuleResult? {
        guard let missing = recording.incompleteness else { return nil }
        return RuleResult(
            Rule(.complete), fails: missing,
            recording.problems.map { RuleResult.Violation(text: "\($0)", evidence: []) })
    }
}
