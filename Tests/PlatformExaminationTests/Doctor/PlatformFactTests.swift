import Foundation
import Scenarios
import Testing

@testable import PlatformExamination

@Suite("The facts")
struct PlatformFactTests {
    @Test("are F1 to F23, in order, and each has questions")
    func numbers() {
        #expect(PlatformFact.all.map(\.number) == (1...23).map { "F\($0)" })
        for fact in PlatformFact.all { #expect(!fact.questions.isEmpty, "\(fact.number)") }
    }

    @Test("question names are unique, and their texts fit on a line")
    func questions() {
        let questions = PlatformFact.all.flatMap(\.questions)
        #expect(Set(questions.map(\.name)).count == questions.count)
        let others = QueuePromise.all.filter { $0.fact == nil }.map(\.name)
        #expect(Set(questions.map(\.name)).isDisjoint(with: others))
        for question in questions {
            let words = [question.name, question.claim] + question.expected.events
            for words in words { #expect(!words.isEmpty && !words.contains { $0.isNewline || $0 == "\t" }, "\(words)") }
        }
    }

    @Test("about notification queues have the promises with their numbers as questions")
    func promises() {
        for fact in PlatformFact.notificationQueue {
            #expect(fact.questions.map(\.name) == QueuePromise.all.filter { $0.fact == fact.number }.map(\.name))
        }
        #expect(PlatformFact.notificationQueue.flatMap(\.questions).count == QueuePromise.all.count { $0.fact != nil })
    }

    @Test("a type of Foundation is found by its mangled name, and an unknown name is not")
    func typesByName() {
        #expect(_typeByName("10Foundation10SocketPortC") == SocketPort.self)
        #expect(_typeByName("10Foundation12PortDelegate_p") == (any PortDelegate).self)
        #expect(_typeByName("10Foundation10SocketSortC") == nil)
    }
}
