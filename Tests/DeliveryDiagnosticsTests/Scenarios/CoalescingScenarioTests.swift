import XCTest

@testable import DeliveryDiagnostics

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

    func testTheReportIsOfTheRecords() throws {
        var records = try records(of: scenario)
        records.remove(at: try records.place { $0.stage == .coalesce })
        let report = try XCTUnwrap(scenario.report(on: records))
        XCTAssertTrue(report.contains(" 500       498        1\n"), report)
    }

    // Each expectation is broken once, to see that it can fail.

    func testADrawInAnotherCalloutIsSeen() throws {
        try assert(scenario, fails: ["500 draws in one callout, and each enqueued to flush"]) {
            $0[try $0.place { $0.stage == .enqueue }].sequence = 1
        }
    }

    func testAFlushInTheCalloutAndOneForAnotherDrawAreSeen() throws {
        try assert(scenario, fails: ["flushed once, after the callout, for the last"]) {
            let end = $0[try $0.place(of: "drew 500 times, the callout ends")].sequence
            $0[try $0.place { $0.stage == .post }].sequence = end - 1
        }
        try assert(scenario, fails: ["flushed once, after the callout, for the last"]) { records in
            // The last two draws change places.
            let drawn = records.filter { $0.stage == .enqueue && $0.notification == "FlushTheServer" }.compactMap(
                \.post)
            for place in records.indices where records[place].stage != .enqueue {
                switch records[place].post {
                case drawn[498]?: records[place].post = drawn[499]
                case drawn[499]?: records[place].post = drawn[498]
                default: break
                }
            }
        }
    }

    func testADrawThatIsNotFlushedIsSeen() throws {
        try assert(scenario, fails: ["the flush had all draws"]) {
            $0[try $0.place(of: "flushed: 500 draw operations")].message = "flushed: 499 draw operations"
        }
    }

    func testTwoKeysInOneCalloutAndAnotherKeyAreSeen() throws {
        let claim = "each key in its own callout, and the size enqueued each time"
        try assert(scenario, fails: [claim]) { $0.remove(at: try $0.place { $0.stage == .drain }) }
        try assert(scenario, fails: [claim]) { $0[try $0.place(of: "typed ü")].message = "typed u" }
    }

    func testASizeThatIsChangedDuringTheTypingIsSeen() throws {
        try assert(scenario, fails: ["the size changed once, when the typing had stopped"]) { records in
            let typed = records[try records.place(of: "typed e")].sequence
            let place = try records.place { $0.stage == .post && $0.notification == "ChangeTheDisplayedSize" }
            records[place].sequence = typed - 1
        }
    }

    func testASizeInCharactersIsSeen() throws {
        try assert(scenario, fails: ["the size is of bytes: 7, for 5 characters"]) {
            $0[try $0.place(of: "displayed: 7 bytes")].message = "displayed: 5 bytes"
        }
    }

    func testOneThatMeetsNoFateIsSeen() throws {
        try assert(scenario, fails: ["each enqueued has one fate", "counted by the library as recorded"]) {
            $0.remove(at: try $0.place { $0.stage == .coalesce })
        }
    }

    func testAMiscountIsSeen() throws {
        try assert(scenario, fails: ["counted by the library as recorded"]) { try $0.miscount() }
    }
}
