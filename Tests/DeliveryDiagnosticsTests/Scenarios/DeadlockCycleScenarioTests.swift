import XCTest

@testable import DeliveryDiagnostics

final class DeadlockCycleScenarioTests: ScenarioTestCase {
    private let scenario = DeadlockCycleScenario()

    // Each expectation is broken once, to see that it can fail.

    func testAWaitThatIsNotRefusedIsSeen() throws {
        try assert(scenario, fails: ["the wait that would close the cycle is refused"]) {
            $0.remove(at: try $0.place(of: "refused: it would never end"))
        }
    }

    func testAPostOfWhatIsRefusedIsSeen() throws {
        try assert(
            scenario, fails: ["refused before anything was posted", "main's post was handled on A"]
        ) { records in
            var question = records[try records.place { $0.stage == .post }]
            question.notification = "Question"
            question.post = 1_000_000
            records.insert(question, at: try records.place(of: "refused: it would never end"))
        }
    }

    func testACycleThatIsNotNamedWholeIsSeen() throws {
        let claim = "the error names the three, each waiting for the next"
        try assert(scenario, fails: [claim]) { records in
            records.removeAll { $0.message?.hasSuffix(" to perform a block") == true }
        }
        try assert(scenario, fails: [claim]) { records in
            let place = try records.place { $0.message?.hasSuffix(" to handle Question") == true }
            records[place].message = records[place].message?.replacingOccurrences(of: "name = main", with: "name = A")
        }
    }

    func testAThreadThatDoesNotGoOnIsSeen() throws {
        try assert(scenario, fails: ["the others ended as if nothing had been"]) {
            $0.remove(at: try $0.place(of: "A goes on"))
        }
    }

    func testADeliveryOnAnotherThreadIsSeen() throws {
        try assert(scenario, fails: ["main's post was handled on A"]) {
            $0[try $0.placeOfDelivery()].thread = Self.anotherThread
        }
    }
}
