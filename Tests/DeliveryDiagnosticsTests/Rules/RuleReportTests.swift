import DeliveryRecording
import Foundation
import XCTest

@testable import DeliveryDiagnostics

final class RuleReportTests: XCTestCase {
    /// A rule that holds, and one that does not.
    private static let report: RuleReport = {
        let recording = RecordedStory.complete { story in
            story.register(1, "Saved")
            story.deliver(1, to: [1], "Saved")
        }
        let rules = try? RuleFile.rules("Saved observed\nSaved on main", path: "rules.txt")
        return RuleReport(RuleCheck(rules ?? [], RecordingIndex(recording)))
    }()

    func testLinesWrapAndOnlyTheFirstLineOfARuleHasItsResult() {
        let lines = Self.report.text(width: 40)
        XCTAssertEqual(
            lines.map(\.text),
            [
                "ok      Saved observed: 1 post", "FAILED  Saved on main: 1 of 1 handler",
                "        ran on another thread", "  observer 1 of Saved ran on worker once",
                "    run.jsonl:4 3 ms worker deliver #1", "      Saved observer 1; posted at",
                "      Demo/main.swift:1001; observed at", "      Demo/main.swift:1",
            ])
        XCTAssertEqual(lines.map(\.result), ["ok", "FAILED"] + Array(repeating: nil, count: 6))
        XCTAssertEqual(Self.report.totals, "1 passed, 1 failed")
    }

    func testTheJSONHasEachRuleWithItsViolationsAndTheirRecords() throws {
        XCTAssertEqual(
            try Self.report.json(),
            #"{"failedCount":1,"holds":false,"isTruncated":false,"ruleCount":2,"rules":["#
                + #"{"holds":true,"rule":"Saved observed","text":"1 post","violationCount":0,"violations":[]},"#
                + #"{"holds":false,"rule":"Saved on main","text":"1 of 1 handler ran on another thread","#
                + #""violationCount":1,"violations":[{"evidence":[{"line":4,"name":"Saved","#
                + #""nanoseconds":3000000,"observer":1,"post":1,"stage":"deliver","#
                + #""text":"run.jsonl:4 3 ms worker deliver #1 Saved observer 1; posted at Demo/main.swift:1001; "#
                + #"observed at Demo/main.swift:1","thread":"worker"}],"location":"Demo/main.swift:1","#
                + #""text":"observer 1 of Saved ran on worker once"}]}],"source":"run.jsonl"}"#)
    }

    func testOnlyTheFirstViolationsAreShownAndTheOthersCounted() throws {
        let recording = RecordedStory.complete { story in
            for observer in 1...12 { story.register(observer, "Saved") }
        }
        let rule = try RuleParser.rule(argument: "no observer left at exit", option: "--rule")
        let lines = RuleReport(RuleCheck([rule], RecordingIndex(recording))).text().map(\.text)
        XCTAssertEqual(lines.count, 1 + 2 * 10 + 1)
        XCTAssertEqual(lines.last, "  and 2 more")
    }
}
