/// Something asked of Foundation and of this package, of each in a process of its own, as not every process survives it.
///
/// What is seen is a list of events; the promise is kept if they are the expected ones. So the verdict is a function of what
/// was seen.
struct TrialQuestion: Sendable {
    /// Lets it happen, on the main thread of a process of its own, and notes what is seen.
    typealias Body = @MainActor @Sendable (TrialNotes) throws -> Void

    /// What this package has to compare.
    enum Counterpart: Sendable {
        case body(Body)
        /// Something else is expected than of Foundation, since it is another thing.
        case other(TrialExpectation, Body)
        /// Nothing, and why.
        case none(String)
    }

    /// What it is called between processes, and in tests.
    var name: String
    /// What is promised.
    var claim: String
    /// The document's sentence, if it has one.
    var sentence: String?
    var expected: TrialExpectation
    var foundation: Body
    var ours: Counterpart

    init(
        _ name: String, _ claim: String, sentence: String? = nil, expected: TrialExpectation,
        foundation: @escaping Body, ours: Counterpart
    ) {
        self.name = name
        self.claim = claim
        self.sentence = sentence
        self.expected = expected
        self.foundation = foundation
        self.ours = ours
    }

    func body(for side: TrialSide) -> Body? {
        switch (side, ours) {
        case (.foundation, _): foundation
        case (.ours, .body(let body)), (.ours, .other(_, let body)): body
        case (.ours, .none): nil
        }
    }

    /// What is expected of one side.
    func expected(of side: TrialSide) -> TrialExpectation {
        if case (.ours, .other(let expected, _)) = (side, ours) { return expected }
        return expected
    }

    /// What came of it.
    func answer(of side: TrialSide, from observation: TrialObservation) -> TrialAnswer {
        let expected = expected(of: side)
        return TrialAnswer(
            verdict: expected.verdict(on: observation), observed: "\(expected.arranged(observation))")
    }
}
