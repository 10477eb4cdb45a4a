import Scenarios
import Testing

@testable import PlatformExamination

@Suite("The expectation of a side depends on the question's counterpart")
struct TrialQuestionTests {
    private func question(_ ours: TrialQuestion.Counterpart) -> TrialQuestion {
        TrialQuestion(
            "name", "claim", expected: TrialExpectation(events: ["there"]), foundation: { $0.note("there") }, ours: ours
        )
    }

    @Test("this package's expectation is Foundation's, unless it offers a different API")
    func expectations() {
        let (same, other) = (question(.body { _ in }), question(.other(TrialExpectation(events: ["else"])) { _ in }))
        let (there, otherwise) = (TrialObservation(words: ["there"]), TrialObservation(words: ["else"]))
        #expect(same.answer(of: .foundation, from: there).verdict == .kept)
        #expect(same.answer(of: .ours, from: there) == TrialAnswer(verdict: .kept, observed: "there"))
        #expect(other.answer(of: .foundation, from: there).verdict == .kept)
        #expect(other.answer(of: .ours, from: there) == TrialAnswer(verdict: .broken("there"), observed: "there"))
        #expect(other.answer(of: .ours, from: otherwise).verdict == .kept)
    }

    @Test("a question without a counterpart is not put to this package")
    func none() {
        #expect(question(.none("why")).body(for: .ours) == nil)
        #expect(question(.none("why")).body(for: .foundation) != nil)
    }
}
