import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class CoalescingScenarioTests: ScenarioTestCase {
    private let scenario = CoalescingScenario()

    func testTheReportIsTheSameEachTime() throws {
        let report = """
            notification            style     enqueued  coalesced  posted
            FlushTheServer          asap      500       499        1
            ChangeTheDisplayedSize  whenIdle  5         4          1
            """
        for _ in 1...2 { XCTAssertEqual(scenario.report(on: try records(of: scenario)), report) }
    }

    func testTheReportIsAFunctionOfTheRecords() throws {
        var records = try records(of: scenario)
        records.remove(at: try records.indexOfRecord { $0.stage == .coalesce })
        let report = try XCTUnwrap(scenario.report(on: records))
        XCTAssertTrue(report.contains(" 500       498        1\n"), report)
    }

    // Each expectation is broken once, to show that it can fail.

    func testADrawInAnotherCalloutIsDetected() throws {
        try assert(scenario, fails: ["500 draws in one callout, each enqueues a flush"]) {
            $0[try $0.indexOfRecord { $0.stage == .enqueue }].sequence = 1
        }
    }

    func testAFlushInTheCalloutAndOneForAnotherDrawAreDetected() throws {
        try assert(scenario, fails: ["flushed once, after the callout, by the last post"]) {
            let end = $0[try $0.indexOfMessage("drew 500 times, the callout ends")].sequence
            $0[try $0.indexOfRecord { $0.stage == .post }].sequence = end - 1
        }
        try assert(scenario, fails: ["flushed once, after the callout, by the last post"]) { records in
            // The last two draws exchange their posts.
            let drawn = records.filter { $0.stage == .enqueue && $0.notification == "FlushTheServer" }.compactMap(
                \.post)
            for index in records.indices where records[index].stage != .enqueue {
                switch records[index].post {
                case drawn[498]?: records[index].post = drawn[499]
                case drawn[499]?: records[index].post = drawn[498]
                default: break
                }
            }
        }
    }

    func testADrawThatIsNotFlushedIsDetected() throws {
        try assert(scenario, fails: ["the flush covers all draws"]) {
            $0[try $0.indexOfMessage("flushed: 500 draw operations")].message = "flushed: 499 draw operations"
        }
    }

    func testTwoKeysInOneCalloutAndAnotherKeyAreDetected() throws {
        let claim = "each key in its own callout, each enqueues the size"
        try assert(scenario, fails: [claim]) { $0.remove(at: try $0.indexOfRecord { $0.stage == .drain }) }
        try assert(scenario, fails: [claim]) { $0[try $0.indexOfMessage("typed ü")].message = "typed u" }
    }

    func testASizeThatIsChangedDuringTheTypingIsDetected() throws {
        try assert(scenario, fails: ["the size changed once, after the typing stopped"]) { records in
            let typed = records[try records.indexOfMessage("typed e")].sequence
            let index = try records.indexOfRecord { $0.stage == .post && $0.notification == "ChangeTheDisplayedSize" }
            records[index].sequence = typed - 1
        }
    }

    func testASizeInCharactersIsDetected() throws {
        try assert(scenario, fails: ["the size is in bytes: 7 for 5 characters"]) {
            $0[try $0.indexOfMessage("displayed: 7 bytes")].message = "displayed: 5 bytes"
        }
    }

    func testANotificationWithoutAnOutcomeIsDetected() throws {
        try assert(
            scenario,
            fails: ["each enqueued notification has one outcome", "the library's counters agree with the records"]
        ) {
            $0.remove(at: try $0.indexOfRecord { $0.stage == .coalesce })
        }
    }

    func testAMiscountIsDetected() throws {
        try assert(scenario, fails: ["the library's counters agree with the records"]) { try $0.miscount() }
    }
}
