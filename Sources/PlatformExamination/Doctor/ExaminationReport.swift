package import ChildProcesses
internal import DeliveryDiagnostics
package import Scenarios

/// The result of examining this platform: for each known fact about Foundation, what Foundation and this package did.
package struct ExaminationReport: Sendable, Hashable {
    /// The answers to one question.
    package struct Finding: Sendable, Hashable {
        /// The name of the question.
        package var name: String
        /// The promise.
        package var claim: String
        /// The document's sentence, if there is one.
        package var sentence: String?
        /// The events that are observed if Foundation keeps the promise.
        package var expected: String
        /// The events that are observed if this package keeps it.
        package var expectedOfOurs: String
        package var foundation: TrialAnswer
        /// Nil if this package has no counterpart.
        package var ours: TrialAnswer?
        /// The reason why it has none.
        package var reason: String?
    }

    /// The findings about one fact.
    package struct Row: Sendable, Hashable {
        /// The number, such as `F7`.
        package var number: String
        package var area: String
        /// The expected behaviour.
        package var expected: String
        package var findings: [Finding]
    }

    package var rows: [Row]

    /// The numbers of all facts, in order.
    package static var facts: [String] { PlatformFact.all.map(\.number) }

    /// Puts the questions of facts to Foundation and to this package, each question in a process of its own.
    ///
    /// - Parameters:
    ///   - facts: the numbers of the facts to examine. Nil means all.
    ///   - childProgram: calls `TrialProgram.perform` with the name of a question and the side, and writes each event
    ///     as a line.
    ///   - timeout: the longest that one process may run.
    ///   - progress: receives the fraction of processes that have ended, on any thread.
    package static func perform(
        facts numbers: Set<String>? = nil, in childProgram: ChildProgram, timeout: Duration = .seconds(60),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws(ScenarioError) -> ExaminationReport {
        let facts = PlatformFact.all.filter { numbers?.contains($0.number) != false }
        var answers = try TrialAnswers.to(
            facts.flatMap(\.questions), in: childProgram, timeout: timeout, progress: progress
        )[...]
        return ExaminationReport(
            rows: facts.map { fact in
                defer { answers = answers.dropFirst(fact.questions.count) }
                return Row(
                    number: fact.number, area: fact.area, expected: fact.expected,
                    findings: zip(fact.questions, answers).map { Finding($0, $1) })
            })
    }

    /// The findings in which this package does not behave as expected.
    package var failures: [Finding] {
        rows.flatMap(\.findings).filter { $0.ours.map { $0.verdict != .kept } == true }
    }
}

extension ExaminationReport.Finding {
    init(_ question: TrialQuestion, _ answers: TrialAnswers) {
        name = question.name
        claim = question.claim
        sentence = question.sentence
        expected = question.expected(of: .foundation).events.joined(separator: ", ")
        expectedOfOurs = question.expected(of: .ours).events.joined(separator: ", ")
        foundation = answers.foundation
        ours = answers.ours
        if case .none(let why) = question.ours { reason = why }
    }
}
