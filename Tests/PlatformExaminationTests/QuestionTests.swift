import Foundation
import XCTest

@testable import PlatformExamination

final class QuestionTests: XCTestCase {
    private static func question(_ expected: [String], ofOurs: [String]? = nil, isOrdered: Bool = true) -> Question {
        Question("name", "claim", expected: expected, ofOurs: ofOurs, isOrdered: isOrdered) { _ in }
    }

    /// Details are only shown.
    func testAClaimIsKeptIfTheEventsAreTheExpectedOnesAndTheProcessEndsNormally() {
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
            XCTAssertEqual(answer, Answer(isKept: isKept, observed: observed, expected: expected))
        }
        let other = Self.question(["there"], ofOurs: ["else"])
        XCTAssertTrue(other.answer(of: .foundation, events: ["there"]).isKept)
        XCTAssertFalse(other.answer(of: .ours, events: ["there"]).isKept)
        XCTAssertTrue(other.answer(of: .ours, events: ["else"]).isKept)
    }

    func testNamesAreUniqueAndTextsFitIntoALineAndATableCell() {
        XCTAssertEqual(Set(Question.all.map(\.name)).count, Question.all.count)
        XCTAssertEqual(Set(Question.all.map(\.claim)).count, Question.all.count)
        for question in Question.all {
            for text in [question.name, question.claim] + question.expected.values.joined() {
                XCTAssertFalse(text.isEmpty || text.contains { $0.isNewline || $0 == "\t" || $0 == "|" }, "\(text)")
            }
        }
    }

    func testThereAreFactsF1ToF23EachWithQuestionsAnd55PromisesOfQueuesOfWhichF5ToF9AreBroken() {
        XCTAssertEqual(Fact.all.map(\.number), (1...23).map { "F\($0)" })
        for fact in Fact.all { XCTAssertFalse(fact.questions.isEmpty, fact.number) }
        XCTAssertEqual(Question.queues.count, 55)
        XCTAssertEqual(Set(Question.queues.compactMap(\.fact)), ["F5", "F6", "F7", "F8", "F9"])
        XCTAssertTrue(Set(Question.all.compactMap(\.fact)).isSubset(of: Fact.all.map(\.number)))
    }

    func testATypeOfFoundationIsFoundByItsMangledNameAndAnUnknownNameIsNot() {
        XCTAssertTrue(_typeByName("10Foundation10SocketPortC") == SocketPort.self)
        XCTAssertTrue(_typeByName("10Foundation12PortDelegate_p") == (any PortDelegate).self)
        XCTAssertNil(_typeByName("10Foundation10SocketSortC"))
    }
}
