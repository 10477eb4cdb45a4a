import XCTest

@testable import DeliveryDiagnostics

final class RemovalScenarioTests: ScenarioTestCase {
    private let scenario = RemovalScenario()

    // Each expectation is broken once, to see that it can fail.

    func testAReturnAtAnotherTimeIsSeen() throws {
        for (way, claim) in [
            ("cancel", "cancel returned while the handler ran"),
            ("cancelAndWait inside", "cancelAndWait in the handler returned, and the handler went on"),
        ] {
            try assert(scenario, fails: [claim]) { $0[try $0.place(of: "\(way): returned")].sequence = $0.count }
        }
        try assert(scenario, fails: ["cancelAndWait, called while it ran, returned after it"]) { records in
            let end = records[try records.place(of: "cancelAndWait: handler ends")].sequence
            records[try records.place(of: "cancelAndWait: returned")].sequence = end
        }
    }

    func testAHandlerThatBeginsAfterTheRemovalIsSeen() throws {
        try assert(
            scenario,
            fails: [
                "nothing begun after the removal", "what waited is cancelled", "counted by the library as recorded",
            ]
        ) { records in records[try records.place { $0.stage == .cancel }].stage = .deliver }
    }

    func testWhatMeetsNoFateAndWhatMeetsTwoIsSeen() throws {
        try assert(
            scenario,
            fails: ["what waited is cancelled", "each has one fate", "counted by the library as recorded"]
        ) { records in records.remove(at: try records.place { $0.stage == .cancel }) }
        try assert(scenario, fails: ["each has one fate"]) { records in
            records.append(records[try records.place { $0.stage == .cancel }])
        }
    }

    func testADeliveryOfWhatIsPostedAfterTheRemovalIsSeen() throws {
        try assert(scenario, fails: ["each has one fate"]) { records in
            var record = records[try records.placeOfDelivery()]
            record.post = records.filter { $0.stage == .post }[3].post
            records.append(record)
        }
    }

    func testAMiscountIsSeen() throws {
        try assert(scenario, fails: ["counted by the library as recorded"]) { try $0.miscount() }
    }
}
