import Foundation
import Testing

@testable import PlatformExamination

@Suite("Questions")
struct QuestionTests {
    private static func question(_ expected: [String], ofOurs: [String]? = nil, isOrdered: Bool = true) -> Question {
        Question("name", "claim", expected: expected, ofOurs: ofOurs, isOrdered: isOrdered) { _ in }
    }

    @Test("a claim is kept if the events are the expected ones and the process ends normally; details are only shown")
    func answers() {
        let (ordered, unordered) = (Self.question(["1", "2"]), Self.question(["2", "1"], isOrdered: false))
        let cases: [(Question, events: [String], ending: String?, isKept: Bool, observed: String)] = [
            (ordered, ["1", "2"], nil, true, "1, 2"),
            (ordered, ["1\tafter 3 ms", "2"], nil, true, "1 (after 3 ms), 2"),
            (ordered, ["2", "1"], nil, false, "2, 1"),
            (ordered, ["1", "2", "2"], nil, false, "1, 2, 2"),
            (ordered, [], nil, false, "nothing"),
            (ordered, ["1", "2"], "hangs", false, "1, 2, then hangs"),
            (ordered, [], "ends with signal 11", false, "ends with signal 11"),
            (unordered, ["1", "2"], nil, true, "1, 2"),
            (unordered, ["3", "2", "1"], nil, false, "1, 2, 3"),
            (unordered, ["1", "1", "2"], nil, false, "1, 1, 2"),
            (Self.question([]), [], nil, true, "nothing"),
        ]
        for (question, events, ending, isKept, observed) in cases {
            let answer = question.answer(of: .foundation, events: events, ending: ending)
            let expected = question.expected[.foundation, default: []].joined(separator: ", ")
            #expect(answer == Answer(isKept: isKept, observed: observed, expected: expected))
        }
        let other = Self.question(["there"], ofOurs: ["else"])
        #expect(other.answer(of: .foundation, events: ["there"]).isKept)
        #expect(!other.answer(of: .ours, events: ["there"]).isKept)
        #expect(other.answer(of: .ours, events: ["else"]).isKept)
    }

    @Test("names are unique, and texts fit into a line and a table cell")
    func texts() {
        #expect(Set(Question.all.map(\.name)).count == Question.all.count)
        #expect(Set(Question.all.map(\.claim)).count == Question.all.count)
        for question in Question.all {
            for text in [question.name, question.claim] + question.expected.values.joined() {
                #expect(!text.isEmpty && !text.contains { $0.isNewline || $0 == "\t" || $0 == "|" }, "\(text)")
            }
        }
    }

    @Test("there are facts F1 to F23, each with questions, and 54 promises of queues, of which F5 to F9 are broken")
    func catalog() {
        #expect(Fact.all.map(\.number) == (1...23).map { "F\($0)" })
        for fact in Fact.all { #expect(!fact.questions.isEmpty, "\(fact.number)") }
        #expect(Question.queues.count == 54)
        #expect(Set(Question.queues.compactMap(\.fact)) == ["F5", "F6", "F7", "F8", "F9"])
        #expect(Set(Question.all.compactMap(\.fact)).isSubset(of: Fact.all.map(\.number)))
    }

    @Test("a type of Foundation is found by its mangled name, and an unknown name is not")
    func typesByName() {
        #expect(_typeByName("10Foundation10SocketPortC") == SocketPort.self)
        #expect(_typeByName("10Foundation12PortDelegate_p") == (any PortDelegate).self)
        #expect(_typeByName("10Foundation10SocketSortC") == nil)
    }
}
