import DeliveryRecording
import XCTest

@testable import Scenarios

final class RunLoopModesScenarioTests: XCTestCase {
    private let drawing = """
        panel               o---------[=================]
        now for modal               o---*       o-*
        asap for modal          o---------*
        asap for common           o---------*
        whenIdle for modal                          o-*
        asap for default      o---------------------------*
        now for default                       o-------------*
        o is handed over, - waits, * happens, [==] lasts
        """

    func testTheDrawingIsAFunctionOfTheRecordsAndFitsATerminal() throws {
        let check = try ScenarioCheck(RunLoopModesScenario())
        XCTAssertEqual(check.scenario.report(on: check.records), drawing)
        XCTAssertTrue(drawing.split(separator: "\n").allSatisfy { "# \($0)".count < 80 })
        let others = check.records.filter { $0.stage != .post || $0.notification != "asap for common" }
        let report = try XCTUnwrap(check.scenario.report(on: others))
        XCTAssertTrue(report.contains("\nasap for common           o-------------------------\n"), report)
    }

    func testEachExpectationCanFail() throws {
        let check = try ScenarioCheck(RunLoopModesScenario())
        for (right, wrong) in [
            ("modal: posted asap for modal", "default: posted asap for modal"),
            ("default: posted now for default", "modal: posted now for default"),
            ("modal: posted asap for common", "none: posted asap for common"),
        ] {
            try check.fails("each posted in one of its modes") { $0[try $0.index(of: right)].message = wrong }
        }
        let opened = try check.records.sequence(after: "default: the panel opens")
        for (name, sequence, claim) in [
            ("asap for default", opened, "for default, also now: held until the panel has closed"),
            ("now for default", opened, "for default, also now: held until the panel has closed"),
            ("asap for modal", 1, "for modal, also now: held until the panel opens"),
            ("now for modal", 1, "for modal, also now: held until the panel opens"),
            ("asap for common", check.records.count, "for the common modes: posted in the panel too"),
            ("whenIdle for modal", opened, "whenIdle: after all other posts for the panel"),
        ] {
            try check.fails(claim) { $0[try $0.index(.post, name)].sequence = sequence }
        }
        try check.fails("now, in a matching mode: posted before enqueue returns") { records in
            let last = try XCTUnwrap(records.lastIndex { $0.stage == .post && $0.notification == "now for modal" })
            records[last].sequence = try records.sequence(after: "modal: now for modal, posted")
        }
        try check.fails("each handled once") { $0.remove(at: try $0.index(.deliver, "asap for default")) }
        try check.fails(
            "each enqueued notification has one outcome", "the library's counters agree with the records"
        ) { records in
            var record = records[try records.index(.enqueue)]
            record.stage = .dequeue
            records.append(record)
        }
        try check.failsIfMiscounted()
    }
}
