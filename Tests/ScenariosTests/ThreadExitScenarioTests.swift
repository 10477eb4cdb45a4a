import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

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

    // Each expectation is broken once, to show that it can fail.

    func testADeliveryOnAnotherThreadOrAfterTheEndIsDetected() throws {
        let claim = "the worker handles what it can, and no other thread does"
        try assert(scenario, fails: [claim]) { $0[try $0.indexOfDelivery()].thread = Self.anotherThread }
        try assert(scenario, fails: [claim]) { $0[try $0.indexOfDelivery()].sequence = $0.count }
    }

    func testAWaitingDeliveryWithoutAnOutcomeIsDetected() throws {
        try assert(
            scenario,
            fails: [
                "the rest has the outcome target gone", "each post has one outcome",
                "the library's counters agree with the records",
            ]
        ) { records in records.remove(at: try records.indexOfRecord { $0.stage == .targetGone }) }
    }

    func testALaterPostThatDoesNotReportTheEndIsDetected() throws {
        try assert(scenario, fails: ["a later post reports that the thread has ended"]) {
            $0.remove(at: try $0.indexOfMessage("posted once more: 2 observers have lost their thread"))
        }
    }

    func testAnAcceptedBlockIsDetected() throws {
        try assert(scenario, fails: ["a block is refused"]) {
            $0.remove(at: try $0.indexOfMessage("perform refused: worker has ended"))
        }
    }

    func testAMiscountIsDetected() throws {
        try assert(scenario, fails: ["the library's counters agree with the records"]) { try $0.miscount() }
    }
}
