import XCTest

@testable import DeliveryDiagnostics

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

    func testTheDrawingIsOfTheRecords() throws {
        var records = try records(of: scenario)
        records.removeAll { $0.stage == .post && $0.notification == "asap for common" }
        let report = try XCTUnwrap(scenario.report(on: records))
        XCTAssertTrue(report.contains("\nasap for common           o-------------------------\n"), report)
    }

    // Each expectation is broken once, to see that it can fail.

    private func place(
        _ stage: DeliveryStage, _ notification: String, in records: [DeliveryRecord]
    ) throws -> Int {
        try records.place { $0.stage == stage && $0.notification == notification }
    }

    func testAPostInAnotherModeIsSeen() throws {
        for (right, wrong) in [
            ("modal: posted asap for modal", "default: posted asap for modal"),
            ("default: posted now for default", "modal: posted now for default"),
            ("modal: posted asap for common", "none: posted asap for common"),
        ] {
            try assert(scenario, fails: ["each posted in a mode that it is for"]) {
                $0[try $0.place(of: right)].message = wrong
            }
        }
    }

    func testWhatIsForDefaultAndIsPostedInThePanelIsSeen() throws {
        for notification in ["asap for default", "now for default"] {
            try assert(scenario, fails: ["for default, also now: held until the panel had closed"]) { records in
                let open = records[try records.place(of: "default: the panel opens")].sequence
                records[try place(.post, notification, in: records)].sequence = open + 1
            }
        }
    }

    func testWhatIsForModalAndIsPostedOutsideOfThePanelIsSeen() throws {
        for notification in ["asap for modal", "now for modal"] {
            try assert(scenario, fails: ["for modal, also now: held until the panel opened"]) {
                $0[try place(.post, notification, in: $0)].sequence = 1
            }
        }
    }

    func testWhatIsForTheCommonModesAndWaitsForDefaultIsSeen() throws {
        try assert(scenario, fails: ["for the common modes: posted in the panel too"]) {
            $0[try place(.post, "asap for common", in: $0)].sequence = $0.count
        }
    }

    func testANowThatIsPostedLaterWhereItsModeFitsIsSeen() throws {
        try assert(scenario, fails: ["now, where the mode fits: posted before enqueue returned"]) { records in
            let returned = records[try records.place(of: "modal: now for modal, posted")].sequence
            let last = try XCTUnwrap(records.lastIndex { $0.stage == .post && $0.notification == "now for modal" })
            records[last].sequence = returned + 1
        }
    }

    func testAnIdleOneThatIsPostedBeforeOtherWorkOfThePanelIsSeen() throws {
        try assert(scenario, fails: ["whenIdle: after all else that is for the panel"]) { records in
            let open = records[try records.place(of: "default: the panel opens")].sequence
            records[try place(.post, "whenIdle for modal", in: records)].sequence = open + 1
        }
    }

    func testWhatIsNotHandledIsSeen() throws {
        try assert(scenario, fails: ["each handled once"]) {
            $0.remove(at: try place(.deliver, "asap for default", in: $0))
        }
    }

    func testASecondFateIsSeen() throws {
        try assert(scenario, fails: ["each enqueued has one fate", "counted by the library as recorded"]) { records in
            var record = records[try records.place { $0.stage == .enqueue }]
            record.stage = .dequeue
            records.append(record)
        }
    }

    func testAMiscountIsSeen() throws {
        try assert(scenario, fails: ["counted by the library as recorded"]) { try $0.miscount() }
    }
}
