import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class DeadlockCycleScenarioTests: ScenarioTestCase {
    private let scenario = DeadlockCycleScenario()

    // Each expectation is broken once, to show that it can fail.

    func testAWaitThatIsNotRefusedIsDetected() throws {
        try assert(scenario, fails: ["the wait that closes the cycle is refused"]) {
            $0.remove(at: try $0.indexOfMessage("refused: it would never end"))
        }
    }

    func testAPostDespiteTheRefusalIsDetected() throws {
        try assert(
            scenario, fails: ["refused before anything was posted", "main's post was handled on A"]
        ) { records in
            var question = records[try records.indexOfRecord { $0.stage == .post }]
            question.notification = "Question"
            question.post = 1_000_000
            records.insert(question, at: try records.indexOfMessage("refused: it would never end"))
        }
    }

    func testAnIncompleteCycleInTheErrorIsDetected() throws {
        let claim = "the error names three threads, each waiting for the next"
        try assert(scenario, fails: [claim]) { records in
            records.removeAll { $0.message?.hasSuffix(" to perform a block") == true }
        }
        try assert(scenario, fails: [claim]) { records in
            let index = try records.indexOfRecord { $0.message?.hasSuffix(" to handle Question") == true }
            records[index].message = records[index].message?.replacingOccurrences(of: "name = main", with: "name = A")
        }
    }

    func testAThreadThatDoesNotContinueIsDetected() throws {
        try assert(scenario, fails: ["the other waits end normally"]) {
            $0.remove(at: try $0.indexOfMessage("A goes on"))
        }
    }

    func testADeliveryOnAnotherThreadIsDetected() throws {
        try assert(scenario, fails: ["main's post was handled on A"]) {
            $0[try $0.indexOfDelivery()].thread = Self.anotherThread
        }
    }
}
