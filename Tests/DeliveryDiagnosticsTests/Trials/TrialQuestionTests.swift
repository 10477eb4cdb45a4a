import Testing

@testable import DeliveryDiagnostics

@Suite("What is expected of a side is what the question says of it")
struct TrialQuestionTests {
    private func question(_ ours: TrialQuestion.Counterpart) -> TrialQuestion {
        TrialQuestion(
            "name", "claim", expected: TrialExpectation(events: ["there"]), foundation: { $0.note("there") }, ours: ours
        )
    }

    @Test("of this package the same, unless it has something else to compare")
    func expectations() {
        let (same, other) = (question(.body { _ in }), question(.other(TrialExpectation(events: ["else"])) { _ in }))
        let (there, otherwise) = (TrialObservation(words: ["there"]), TrialObservation(words: ["else"]))
        #expect(same.answer(of: .foundation, from: there).verdict == .kept)
        #expect(same.answer(of: .ours, from: there) == TrialAnswer(verdict: .kept, observed: "there"))
        #expect(other.answer(of: .foundation, from: there).verdict == .kept)
        #expect(other.answer(of: .ours, from: there) == TrialAnswer(verdict: .broken("there"), observed: "there"))
        #expect(other.answer(of: .ours, from: otherwise).verdict == .kept)
    }

    @Test("where it has nothing, it is not asked")
    func none() {
        #expect(question(.none("why")).body(for: .ours) == nil)
        #expect(question(.none("why")).body(for: .foundation) != nil)
    }
}
