import Scenarios
import Testing

@testable import PlatformExamination

@Suite("A verdict on a promise is a function of the observed events")
struct QueuePromiseTests {
    private func promise(_ expected: [String], isOrdered: Bool = true) -> QueuePromise {
        QueuePromise("name", "claim", expected: expected, isOrdered: isOrdered) { _ in }
    }

    @Test("kept: the expected events happened, in that order, and no others")
    func kept() {
        #expect(promise(["1", "2"]).verdict(on: TrialObservation(words: ["1", "2"])) == .kept)
        #expect(promise([]).verdict(on: TrialObservation(words: [])) == .kept)
    }

    @Test(
        "broken: the verdict lists what happened instead, in order",
        arguments: [
            (["2", "1"], "2, 1"), (["1"], "1"), (["1", "2", "2"], "1, 2, 2"), ([], "nothing"),
        ])
    func broken(events: [String], instead: String) {
        #expect(promise(["1", "2"]).verdict(on: TrialObservation(words: events)) == .broken(instead))
    }

    @Test("where no order is promised, the order is ignored and the list is sorted")
    func unordered() {
        let promise = promise(["2", "1"], isOrdered: false)
        #expect(promise.verdict(on: TrialObservation(words: ["1", "2"])) == .kept)
        #expect(promise.verdict(on: TrialObservation(words: ["3", "2", "1"])) == .broken("1, 2, 3"))
        #expect(promise.verdict(on: TrialObservation(words: ["1", "1", "2"])) == .broken("1, 1, 2"))
    }

    @Test(
        "a process that does not end normally keeps no promise",
        arguments: [
            (["1"], TrialObservation.End.signal(6, message: "words"), "1, then ends with signal 6: words"),
            ([], .signal(11, message: nil), "ends with signal 11"),
            (["1"], .hangs, "1, then hangs"),
            ([], .hangs, "hangs"),
        ])
    func ends(events: [String], end: TrialObservation.End, instead: String) {
        #expect(promise(["1"]).verdict(on: TrialObservation(words: events, end: end)) == .broken(instead))
    }

    @Test("promise names are unique, and their texts fit into a table cell and a line")
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
