/// A question to Foundation and to this package. Each answers in a process of its own, because some answers are
/// crashes.
///
/// An answer is a list of events. The promise is kept if they are the expected ones, so the verdict is a function of
/// the events.
struct TrialQuestion: Sendable {
    /// Runs on the main thread of a process of its own and notes events.
    typealias Body = @MainActor @Sendable (TrialNotes) throws -> Void

    /// This package's counterpart.
    enum Counterpart: Sendable {
        case body(Body)
        /// A different API, so other events are expected than from Foundation.
        case other(TrialExpectation, Body)
        /// Nothing, with the reason.
        case none(String)
    }

    /// The name that processes and tests use.
    var name: String
    /// The promise.
    var claim: String
    /// The document's sentence, if there is one.
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

    /// The expected events of one side.
    func expected(of side: TrialSide) -> TrialExpectation {
        if case (.ours, .other(let expected, _)) = (side, ours) { return expected }
        return expected
    }

    /// The answer of one side, from the events of its process.
    func answer(of side: TrialSide, from observation: TrialObservation) -> TrialAnswer {
        let expected = expected(of: side)
        return TrialAnswer(
            verdict: expected.verdict(on: observation), observed: "\(expected.arranged(observation))")
    }
}
