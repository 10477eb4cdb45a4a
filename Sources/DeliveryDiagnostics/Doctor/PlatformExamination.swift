/// What this platform's Foundation was found to do where facts are known of it, and what this package does.
public struct PlatformExamination: Sendable, Hashable {
    /// One thing that was asked.
    public struct Finding: Sendable, Hashable {
        /// What the question is called.
        public var name: String
        /// What is promised.
        public var claim: String
        /// The document's sentence, if it has one.
        public var sentence: String?
        /// What is seen of Foundation if it keeps the promise.
        public var expected: String
        /// What is seen of this package if it does.
        public var expectedOfOurs: String
        public var foundation: TrialAnswer
        /// Nil: this package has nothing to compare.
        public var ours: TrialAnswer?
        /// Why it has not.
        public var reason: String?
    }

    /// One fact.
    public struct Row: Sendable, Hashable {
        /// Such as `F7`.
        public var number: String
        public var area: String
        /// What is expected.
        public var expected: String
        public var findings: [Finding]
    }

    public var rows: [Row]

    /// The numbers of all facts, in order.
    public static var facts: [String] { PlatformFact.all.map(\.number) }

    /// Asks Foundation and this package what the facts are about, each question in a process of its own.
    ///
    /// - Parameters:
    ///   - facts: the numbers of those to look at; nil: all.
    ///   - childProgram: calls `TrialProgram.perform` with the name of a question and the side, and writes each event as a
    ///     line.
    ///   - limit: how long one process may take.
    ///   - progress: told what fraction of the processes has ended, on any thread.
    public static func perform(
        facts numbers: Set<String>? = nil, in childProgram: ChildProgram, limit: Duration = .seconds(60),
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) throws(ScenarioError) -> PlatformExamination {
        let facts = PlatformFact.all.filter { numbers?.contains($0.number) != false }
        var answers = try TrialAnswers.to(
            facts.flatMap(\.questions), in: childProgram, limit: limit, progress: progress
        )[...]
        return PlatformExamination(
            rows: facts.map { fact in
                defer { answers = answers.dropFirst(fact.questions.count) }
                return Row(
                    number: fact.number, area: fact.area, expected: fact.expected,
                    findings: zip(fact.questions, answers).map { Finding($0, $1) })
            })
    }

    /// What this package does not do as it should.
    public var failures: [Finding] {
        rows.flatMap(\.findings).filter { $0.ours.map { $0.verdict != .kept } == true }
    }
}

extension PlatformExamination.Finding {
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
