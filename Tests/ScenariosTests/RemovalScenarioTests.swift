import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class RemovalScenarioTests: ScenarioTestCase {
    private let scenario = RemovalScenario()

    // Each expectation is broken once, to show that it can fail.

    func testAReturnAtAnotherTimeIsDetected() throws {
        for (way, claim) in [
            ("cancel", "cancel returns while the handler runs"),
            ("cancelAndWait inside", "cancelAndWait in the handler returns, and it continues"),
        ] {
            try assert(scenario, fails: [claim]) { $0[try $0.indexOfMessage("\(way): returned")].sequence = $0.count }
        }
        try assert(scenario, fails: ["cancelAndWait, called while it runs, returns after it"]) { records in
            let end = records[try records.indexOfMessage("cancelAndWait: handler ends")].sequence
            records[try records.indexOfMessage("cancelAndWait: returned")].sequence = end
        }
    }

    func testAHandlerThatBeginsAfterTheRemovalIsDetected() throws {
        try assert(
            scenario,
            fails: [
                "no handler begins after the removal", "waiting deliveries are cancelled",
                "the library's counters agree with the records",
            ]
        ) { records in records[try records.indexOfRecord { $0.stage == .cancel }].stage = .deliver }
    }

    func testAPostWithoutAnOutcomeAndOneWithTwoAreDetected() throws {
        try assert(
            scenario,
            fails: [
                "waiting deliveries are cancelled", "each post has one outcome",
                "the library's counters agree with the records",
            ]
        ) { records in records.remove(at: try records.indexOfRecord { $0.stage == .cancel }) }
        try assert(scenario, fails: ["each post has one outcome"]) { records in
            records.append(records[try records.indexOfRecord { $0.stage == .cancel }])
        }
    }

    func testADeliveryOfAPostAfterTheRemovalIsDetected() throws {
        try assert(scenario, fails: ["each post has one outcome"]) { records in
            var record = records[try records.indexOfDelivery()]
            record.post = records.filter { $0.stage == .post }[3].post
            records.append(record)
        }
    }

    func testAMiscountIsDetected() throws {
        try assert(scenario, fails: ["the library's counters agree with the records"]) { try $0.miscount() }
    }
}
