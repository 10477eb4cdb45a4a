import DeliveryDiagnostics
import DeliveryRecording

extension Terminal {
    private static let maximum = 5

    /// Prints the first problems of a recording's file on standard error.
    func sayProblems(of recording: Recording) {
        for problem in recording.problems.prefix(Self.maximum) { say("notify-demo: \(problem)") }
        let more = recording.problemCount - min(recording.problems.count, Self.maximum)
        if more > 0 { say("notify-demo: \(recording.source): \(more) more problems in this file") }
    }
}
