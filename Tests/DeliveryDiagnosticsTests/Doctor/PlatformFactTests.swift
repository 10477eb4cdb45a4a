import Foundation
import Testing

@testable import DeliveryDiagnostics

@Suite("The facts")
struct PlatformFactTests {
    @Test("are F1 to F23, in order, and each is asked about")
    func numbers() {
        #expect(PlatformFact.all.map(\.number) == (1...23).map { "F\($0)" })
        for fact in PlatformFact.all { #expect(!fact.questions.isEmpty, "\(fact.number)") }
    }

    @Test("questions have names of their own, and what they say fits on a line")
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

    @Test("of notification queues are the promises that were known to be broken")
    func promises() {
        for fact in PlatformFact.notificationQueue {
            #expect(fact.questions.map(\.name) == QueuePromise.all.filter { $0.fact == fact.number }.map(\.name))
        }
        #expect(PlatformFact.notificationQueue.flatMap(\.questions).count == QueuePromise.all.count { $0.fact != nil })
    }

    @Test("a type that Foundation has is found by its name, so that one which is not found is missing")
    func typesByName() {
        #expect(_typeByName("10Foundation10SocketPortC") == SocketPort.self)
        #expect(_typeByName("10Foundation12PortDelegate_p") == (any PortDelegate).self)
        #expect(_typeByName("10Foundation10SocketSortC") == nil)
    }
}
