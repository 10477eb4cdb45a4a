import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class RunLoopModesScenarioTests: ScenarioTestCase {
    private let scenario = RunLoopModesScenario()

    private let timeline = """
        step                1       5         10        15
        panel               o---------[=================]
        now for modal               o---*       o-*
        asap for modal          o---------*
        asap for common           o---------*
        whenIdle for modal                          o-*
        asap for default      o---------------------------*
        now for default                       o-------------*
        o is handed over, - waits, * happens, [==] lasts
        """

    func testTheDrawingIsTheSameEachTimeAndFitsATerminal() throws {
        for _ in 1...5 { XCTAssertEqual(scenario.report(on: try records(of: scenario)), timeline) }
        XCTAssertTrue(timeline.split(separator: "\n").allSatisfy { "# \($0)".count < 80 })
    }

    func testTheDrawingIsAFunctionOfTheRecords() throws {
        var records = try records(of: scenario)
        records.removeAll { $0.stage == .post && $0.notification == "asap for common" }
        let report = try XCTUnwrap(scenario.report(on: records))
        XCTAssertTrue(report.contains("\nasap for common           o-------------------------\n"), report)
    }

    // Each expectation is broken once, to show that it can fail.

    private func indexOfRecord(
        _ stage: DeliveryStage, _ notification: String, in records: [DeliveryRecord]
    ) throws -> Int {
        try records.indexOfRecord { $0.stage == stage && $0.notification == notification }
    }

    func testAPostInAnotherModeIsDetected() throws {
        for (right, wrong) in [
            ("modal: posted asap for modal", "default: posted asap for modal"),
            ("default: posted now for default", "modal: posted now for default"),
            ("modal: posted asap for common", "none: posted asap for common"),
        ] {
            try assert(scenario, fails: ["each posted in one of its modes"]) {
                $0[try $0.indexOfMessage(right)].message = wrong
            }
        }
    }

    func testAPostForDefaultInThePanelIsDetected() throws {
        for notification in ["asap for default", "now for default"] {
            try assert(scenario, fails: ["for default, also now: held until the panel has closed"]) { records in
                let open = records[try records.indexOfMessage("default: the panel opens")].sequence
                records[try indexOfRecord(.post, notification, in: records)].sequence = open + 1
            }
        }
    }

    func testAPostForModalOutsideThePanelIsDetected() throws {
        for notification in ["asap for modal", "now for modal"] {
            try assert(scenario, fails: ["for modal, also now: held until the panel opens"]) {
                $0[try indexOfRecord(.post, notification, in: $0)].sequence = 1
            }
        }
    }

    func testAPostForTheCommonModesAfterThePanelIsDetected() throws {
        try assert(scenario, fails: ["for the common modes: posted in the panel too"]) {
            $0[try indexOfRecord(.post, "asap for common", in: $0)].sequence = $0.count
        }
    }

    func testALatePostOfNowInAMatchingModeIsDetected() throws {
        try assert(scenario, fails: ["now, in a matching mode: posted before enqueue returns"]) { records in
            let returned = records[try records.indexOfMessage("modal: now for modal, posted")].sequence
            let last = try XCTUnwrap(records.lastIndex { $0.stage == .post && $0.notification == "now for modal" })
            records[last].sequence = returned + 1
        }
    }

    func testAnIdleOneThatIsPostedBeforeOtherWorkOfThePanelIsDetected() throws {
        try assert(scenario, fails: ["whenIdle: after all other posts for the panel"]) { records in
            let open = records[try records.indexOfMessage("default: the panel opens")].sequence
            records[try indexOfRecord(.post, "whenIdle for modal", in: records)].sequence = open + 1
        }
    }

    func testAMissingDeliveryIsDetected() throws {
        try assert(scenario, fails: ["each handled once"]) {
            $0.remove(at: try indexOfRecord(.deliver, "asap for default", in: $0))
        }
    }

    func testASecondOutcomeIsDetected() throws {
        try assert(
            scenario,
            fails: ["each enqueued notification has one outcome", "the library's counters agree with the records"]
        ) { records in
            var record = records[try records.indexOfRecord { $0.stage == .enqueue }]
            record.stage = .dequeue
            records.append(record)
        }
    }

    func testAMiscountIsDetected() throws {
        try assert(scenario, fails: ["the library's counters agree with the records"]) { try $0.miscount() }
    }
}
