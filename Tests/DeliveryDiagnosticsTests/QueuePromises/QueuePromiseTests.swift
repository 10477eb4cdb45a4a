import Testing

@testable import DeliveryDiagnostics

@Suite("Whether a promise is kept is a function of what was observed")
struct QueuePromiseTests {
    private func promise(_ expected: [String], isOrdered: Bool = true) -> QueuePromise {
        QueuePromise("name", "claim", expected: expected, isOrdered: isOrdered) { _ in }
    }

    @Test("kept: what was expected happened, in that order, and nothing else")
    func kept() {
        #expect(promise(["1", "2"]).verdict(on: TrialObservation(words: ["1", "2"])) == .kept)
        #expect(promise([]).verdict(on: TrialObservation(words: [])) == .kept)
    }

    @Test(
        "broken: what happened instead is said, in order",
        arguments: [
            (["2", "1"], "2, 1"), (["1"], "1"), (["1", "2", "2"], "1, 2, 2"), ([], "nothing"),
        ])
    func broken(events: [String], instead: String) {
        #expect(promise(["1", "2"]).verdict(on: TrialObservation(words: events)) == .broken(instead))
    }

    @Test("where no order is promised, none matters and none is said")
    func unordered() {
        let promise = promise(["2", "1"], isOrdered: false)
        #expect(promise.verdict(on: TrialObservation(words: ["1", "2"])) == .kept)
        #expect(promise.verdict(on: TrialObservation(words: ["3", "2", "1"])) == .broken("1, 2, 3"))
        #expect(promise.verdict(on: TrialObservation(words: ["1", "1", "2"])) == .broken("1, 1, 2"))
    }

    @Test(
        "a process that does not end as it should has kept nothing",
        arguments: [
            (["1"], TrialObservation.End.signal(6, lastWords: "words"), "1, then ends by signal 6: words"),
            ([], .signal(11, lastWords: nil), "ends by signal 11"),
            (["1"], .hangs, "1, then hangs"),
            ([], .hangs, "hangs"),
        ])
    func ends(events: [String], end: TrialObservation.End, instead: String) {
        #expect(promise(["1"]).verdict(on: TrialObservation(words: events, end: end)) == .broken(instead))
    }

    @Test("each promise has a name of its own, and is a cell of a table and a line of output")
    func promises() {
        let promises = QueuePromise.all
        #expect(Set(promises.map(\.name)).count == promises.count)
        #expect(Set(promises.map(\.claim)).count == promises.count)
        for promise in promises {
            #expect(QueuePromise.named(promise.name)?.claim == promise.claim)
            for words in [promise.name, promise.claim] + promise.expected {
                #expect(!words.isEmpty && words.allSatisfy { $0 != "|" && !$0.isNewline }, "\(words)")
            }
        }
        #expect(QueuePromise.named("no such promise") == nil)
        #expect(Set(promises.compactMap(\.fact)) == ["F5", "F6", "F7", "F8", "F9"])
    }
}
