import DeliveryDiagnostics

extension Terminal {
    private static let mostProblems = 5

    /// Says what is wrong with a recording's file, the first few of it.
    func sayProblems(of recording: Recording) {
        for problem in recording.problems.prefix(Self.mostProblems) { say("notify-demo: \(problem)") }
        let more = recording.problemCount - min(recording.problems.count, Self.mostProblems)
        if more > 0 { say("notify-demo: \(recording.source): and \(more) more problems of this file") }
    }
}
