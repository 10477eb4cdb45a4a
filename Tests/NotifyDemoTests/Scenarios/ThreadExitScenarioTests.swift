import DeliveryRecording
import XCTest

@testable import Scenarios

final class ThreadExitScenarioTests: XCTestCase {
    func testEachExpectationCanFailAndTheReportIsAFunctionOfTheRecords() throws {
        let check = try ScenarioCheck(ThreadExitScenario())
        XCTAssertEqual(
            check.scenario.report(on: check.records),
            """
            posted  delivered  target gone
            4       2          2
            """)
        let handled = "the worker handles notifications until it ends, and no other thread does"
        try check.fails(handled) { $0[try $0.indexOfDelivery()].thread = ScenarioCheck.anotherThread }
        try check.fails(handled) { $0[try $0.indexOfDelivery()].sequence = $0.count }
        try check.fails(
            "the rest has the outcome target gone", "each post has one outcome",
            "the library's counters agree with the records"
        ) { $0.remove(at: try $0.index(.targetGone)) }
        try check.fails("a later post reports that the thread has ended") {
            $0.remove(at: try $0.index(of: "posted once more: 1 observer has lost its thread"))
        }
        try check.fails("a block is refused") {
            $0.remove(at: try $0.index(of: "perform refused: worker has ended"))
        }
        try check.failsIfMiscounted()
    }
}
