import DeliveryRecording
import XCTest

@testable import Scenarios

final class CoalescingScenarioTests: XCTestCase {
    func testEachExpectationCanFailAndTheReportIsAFunctionOfTheRecords() throws {
        let check = try ScenarioCheck(CoalescingScenario())
        XCTAssertEqual(
            check.scenario.report(on: check.records),
            """
            notification            style     enqueued  coalesced  posted
            FlushTheServer          asap      500       499        1
            ChangeTheDisplayedSize  whenIdle  5         4          1
            """)
        try check.fails("500 draws in one callout, each enqueues a flush") { $0[try $0.index(.enqueue)].sequence = 1 }
        let once = "flushed once, after the callout, by the last post"
        try check.fails(once) {
            $0[try $0.index(.post)].sequence = try $0.sequence(after: "drew 500 times, the callout ends") - 2
        }
        try check.fails(once) { records in
            let drawn = records.filter { $0.stage == .enqueue && $0.notification == "FlushTheServer" }.map(\.post)
            records.exchange(drawn[498], drawn[499]) { $0.stage != .enqueue }
        }
        try check.fails("the flush covers all draws") {
            $0[try $0.index(of: "flushed: 500 draw operations")].message = "flushed: 499 draw operations"
        }
        let keys = "each key enqueues the size"
        try check.fails(keys) { $0[try $0.index(of: "typed ü")].message = "typed u" }
        try check.fails("the size changed once, after the typing stopped") {
            $0[try $0.index(.post, "ChangeTheDisplayedSize")].sequence = try $0.sequence(after: "typed e") - 2
        }
        try check.fails("the size is in bytes: 7 for 5 characters") {
            $0[try $0.index(of: "displayed: 7 bytes")].message = "displayed: 5 bytes"
        }
        try check.fails(
            "each enqueued notification has one outcome", "the library's counters agree with the records"
        ) { records in
            records.remove(at: try records.index(.coalesce))
            let report = try XCTUnwrap(check.scenario.report(on: records))
            XCTAssertTrue(report.contains(" 500       498        1\n"), report)
        }
        try check.failsIfMiscounted()
    }
}
