import XCTest

@testable import DeliveryDiagnostics

final class ThreadExitScenarioTests: ScenarioTestCase {
    private let scenario = ThreadExitScenario()

    func testTheReportIsTheSameEachTime() throws {
        let report = """
            observer in a mode       posted  delivered  target gone
            that the worker runs in  4       3          1
            that it does not         4       0          4
            """
        for _ in 1...2 { XCTAssertEqual(scenario.report(on: try records(of: scenario)), report) }
    }

    // Each expectation is broken once, to see that it can fail.

    func testADeliveryOnAnotherThreadOrAfterTheEndIsSeen() throws {
        let claim = "what it could still do it did, and nobody else"
        try assert(scenario, fails: [claim]) { $0[try $0.placeOfDelivery()].thread = Self.anotherThread }
        try assert(scenario, fails: [claim]) { $0[try $0.placeOfDelivery()].sequence = $0.count }
    }

    func testWhatMeetsNoFateAtTheEndIsSeen() throws {
        try assert(
            scenario,
            fails: [
                "the rest has lost its target at the end", "each has one fate", "counted by the library as recorded",
            ]
        ) { records in records.remove(at: try records.place { $0.stage == .targetGone }) }
    }

    func testALaterPostThatDoesNotSaySoIsSeen() throws {
        try assert(scenario, fails: ["a later post says that the thread has ended"]) {
            $0.remove(at: try $0.place(of: "posted once more: 2 observers have no thread"))
        }
    }

    func testABlockThatIsTakenIsSeen() throws {
        try assert(scenario, fails: ["a block is refused"]) {
            $0.remove(at: try $0.place(of: "perform refused: worker has ended"))
        }
    }

    func testAMiscountIsSeen() throws {
        try assert(scenario, fails: ["counted by the library as recorded"]) { try $0.miscount() }
    }
}
