import DeliveryRecording
import XCTest

@testable import Scenarios

final class DeadlockCycleScenarioTests: XCTestCase {
    func testEachExpectationCanFail() throws {
        let check = try ScenarioCheck(DeadlockCycleScenario())
        let refused = "refused: it would never end"
        try check.fails("the wait that closes the cycle is refused") { $0.remove(at: try $0.index(of: refused)) }
        try check.fails("refused before anything was posted", "main's post was handled on A") { records in
            var question = records[try records.index(.post)]
            (question.notification, question.post) = ("Question", 1_000_000)
            records.insert(question, at: try records.index(of: refused))
        }
        let names = "the error names three threads, each waiting for the next"
        try check.fails(names) { $0.removeAll { $0.message?.hasSuffix(" to perform a block") == true } }
        try check.fails(names) {
            let index = try $0.index { $0.message?.hasSuffix(" to handle Question") == true }
            $0[index].message = $0[index].message?.replacingOccurrences(of: "name = main", with: "name = A")
        }
        try check.fails("the other waits end normally") { $0.remove(at: try $0.index(of: "A goes on")) }
        try check.fails("main's post was handled on A") {
            $0[try $0.indexOfDelivery()].thread = ScenarioCheck.anotherThread
        }
    }
}
