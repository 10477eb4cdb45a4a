import DeliveryRecording
import XCTest

@testable import Scenarios

final class ThreadExitScenarioTests: XCTestCase {
    func testEachExpectationCanFailAndTheReportIsAFunctionOfTheRecords() throws {
        let check = try ScenarioCheck(ThreadExitScenario())
        XCTAssertEqual(
            check.scenario.report(on: check.records),
            """
            observer in a mode       posted  delivered  target gone
            that the worker runs in  4       3          1
            that it does not         4       0          4
            """)
        let handled = "the worker handles what it can, and no other thread does"
        try check.fails(handled) { $0[try $0.indexOfDelivery()].thread = ScenarioCheck.anotherThread }
        try check.fails(handled) { $0[try $0.indexOfDelivery()].sequence = $0.count }
        try check.fails(
            "the rest has the outcome target gone", "each post has one outcome",
            "the library's counters agree with the records"
        ) { $0.remove(at: try $0.index(.targetGone)) }
        try check.fails("a later post reports that the thread has ended") {
            $0.remove(at: try $0.index(of: "posted once more: 2 observers have lost their thread"))
        }
        try check.fails("a block is refused") {
            $0.remove(at: try $0.index(of: "perform refused: worker has ended"))
        }
        try check.failsIfMiscounted()
    }
}
