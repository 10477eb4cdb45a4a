import DeliveryRecording
import XCTest

@testable import DeliveryDiagnostics

/// Every view of the recording of a program of 15 lines that uses Foundation only: main observes TestNotification, and
/// a second thread posts it.
final class FoundationProgramTests: XCTestCase {
    private static let lines = """
        {"recording":2,"process":100,"name":"wrong","n":1,"t":1000000,"wall":1795302075005408768}
        {"thread":1,"name":"main","kernelID":100}
        {"n":1,"t":1000000,"thread":1,"stage":"register","name":"TestNotification","observer":1,\
        "file":"main.swift","line":3,"foundation":true,"center":"7f0010"}
        {"thread":2,"kernelID":101}
        {"n":2,"t":2000000,"thread":2,"stage":"post","name":"TestNotification","post":1,\
        "foundation":true,"center":"7f0010","file":"main.swift","line":9}
        {"n":3,"t":3000000,"thread":2,"stage":"deliver","post":1,"observer":1,"foundation":true}
        {"n":4,"t":4000000,"thread":2,"stage":"return","post":1,"observer":1,"foundation":true}
        {"n":5,"t":5000000,"thread":2,"stage":"postEnd","post":1,"count":1,"foundation":true}
        {"n":6,"t":6000000,"thread":1,"stage":"remove","observer":1,"count":0,"foundation":true}
        {"n":7,"t":7000000,"thread":1,"stage":"end","reason":"exit"}

        """

    private func index() throws -> RecordingIndex {
        let recording = try Recording(bytes: Array(Self.lines.utf8), name: "run.jsonl")
        XCTAssertTrue(recording.problems.isEmpty, "\(recording.problems)")
        XCTAssertEqual(recording.completeness, [.complete])
        return RecordingIndex(recording)
    }

    func testDiagnoseFindsTheWrongThreadWithTheLinesOfThePostAndTheRegistration() throws {
        let diagnosis = Diagnosis(try index())
        XCTAssertEqual(diagnosis.findings.map(\.kind), [.wrongThread])
        XCTAssertEqual(
            DiagnosisReport(diagnosis).text().map(\.text).prefix(4),
            [
                "note: observer 1 of TestNotification was added on main, but its handler ran on thread 2 once, "
                    + "because NotificationCenter calls handlers on the thread that posts.",
                "  run.jsonl:3 0 ns main register TestNotification observer 1; at main.swift:3",
                "  run.jsonl:5 1 ms thread 2 post #1 TestNotification to 1 observer; at main.swift:9",
                "  run.jsonl:6 2 ms thread 2 deliver #1 TestNotification observer 1; posted at main.swift:9; "
                    + "observed at main.swift:3",
            ])
    }

    func testTheRuleThatHandlersRunOnMainFails() throws {
        let rules = try ["TestNotification on main", "every post observed", "no observer left at exit"].map {
            try RuleParser.rule(argument: $0, option: "--rule")
        }
        let check = RuleCheck(rules, try index())
        XCTAssertEqual(check.results.map(\.holds), [false, true, true])
        XCTAssertEqual(
            RuleReport(check).text().map(\.text).prefix(3),
            [
                "FAILED  TestNotification on main: 1 of 1 handler ran on another thread",
                "  observer 1 of TestNotification ran on thread 2 once",
                "    run.jsonl:6 2 ms thread 2 deliver #1 TestNotification observer 1; posted at main.swift:9; "
                    + "observed at main.swift:3",
            ])
    }

    func testTheTimelineDrawsThePostAndTheHandlerOnItsThread() throws {
        XCTAssertEqual(
            TimelineText(Timeline(try index()), width: 100).text,
            """
            5 rows of 7 records, 2 threads, 6 ms: run.jsonl

               ms  main      thread 2  what     post latency lasts
            0.000  +                   register  TestNotification, observer 1, at main.swift:3
            1.000  │         ●         post     #1            3 ms  TestNotification, at main.swift:9
            2.000  │         ■         deliver  #1   at once  1 ms  TestNotification, observer 1
                   ┆         ┆         3 ms later
            5.000  -         │         remove    TestNotification, observer 1
            6.000  ┴         │         end       exit
            """)
    }

    func testEverythingIsAccountedFor() throws {
        let audit = Evidence(try index(), DiagnosisLimits())
        XCTAssertTrue(audit.addsUp, "\(audit.faults)")
        XCTAssertEqual(audit.accounts.sum(.notifications), [.matched: 1, .delivered: 1])
        XCTAssertEqual(audit.accounts.sum(.unobserved), [:])
    }
}
