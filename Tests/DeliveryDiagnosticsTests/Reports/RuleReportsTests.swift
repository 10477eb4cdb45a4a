import DeliveryRecording
import Foundation
import FoundationXML
import XCTest

@testable import DeliveryDiagnostics

/// The formats of the results of rules.
final class RuleReportsTests: XCTestCase {
    private func check(_ rules: String, in file: String = "ci/rules.txt", _ script: String? = nil) throws -> RuleCheck {
        let story = RecordedStory(
            (script ?? "add o1 Saved; give #1 o1 Saved; worker post #2 Lost n0") + "; end - !exit")
        return RuleCheck(try Rule.rules(rules, source: file), RecordingIndex(story.recording))
    }

    func testLinesWrapAndOnlyTheFirstLineOfARuleHasItsResultAndOnlyTenViolationsAreShown() throws {
        let check = try check("Saved observed\nSaved on main")
        XCTAssertEqual(
            check.text(width: 40),
            [
                "ok      Saved observed: 1 post", "FAILED  Saved on main: 1 of 1 handler",
                "        ran on another thread", "  observer 1 of Saved ran on worker once",
                "    run.jsonl:4 3 ms worker deliver #1", "    Saved observer 1; posted at",
                "    Demo/main.swift:1001; observed at", "    Demo/main.swift:1",
            ])
        XCTAssertEqual(check.totals, "1 passed, 1 failed")
        let lines = try self.check("no observer left at exit", "1-12: add o* Saved").text()
        XCTAssertEqual(lines.count, 1 + 2 * 10 + 1)
        XCTAssertEqual(lines.last, "  and 2 more")
    }

    func testTheJSONHasEachRuleWithItsViolationsAndTheirRecords() throws {
        XCTAssertEqual(
            try check("Saved observed\nSaved on main").json(),
            #"{"failedCount":1,"holds":false,"isTruncated":false,"ruleCount":2,"rules":["#
                + #"{"holds":true,"rule":"Saved observed","text":"1 post","violationCount":0,"violations":[]},"#
                + #"{"holds":false,"rule":"Saved on main","text":"1 of 1 handler ran on another thread","#
                + #""violationCount":1,"violations":[{"evidence":[{"line":4,"name":"Saved","#
                + #""nanoseconds":3000000,"observer":1,"post":1,"stage":"deliver","#
                + #""text":"run.jsonl:4 3 ms worker deliver #1 Saved observer 1; posted at Demo/main.swift:1001; "#
                + #"observed at Demo/main.swift:1","thread":"worker"}],"location":"Demo/main.swift:1","#
                + #""name":"Saved","problem":"observer 1 of Saved ran on worker once","severity":"problem","text":"observer 1 of Saved ran on worker once"}]}],"source":"run.jsonl"}"#
        )
    }

    func testJUnitHasACaseForEachRuleAndAnyTextGivesAWellFormedDocument() throws {
        for text in [
            "a < b && c > d", "\"'", "]]>", "&amp;", "ü 通知 🇨🇭 e\u{301}", "\u{7F}\u{FFFD}", "\u{1B}[31m\0",
        ] {
            let name = try JSONText.of(text)
            let document = try XMLDocument(xmlString: check("\(name) on main\nno problem").junit())
            let shown = text.replacing("\u{1B}", with: #"\u{1B}"#).replacing("\0", with: #"\u{0}"#)
            let cases = try document.nodes(forXPath: "//testcase/@name").map { $0.stringValue ?? "" }
            XCTAssertEqual(cases, ["\(name) on main", "no problem"], shown)
            let message = try document.nodes(forXPath: "//failure/@message").first?.stringValue
            XCTAssertEqual(message?.hasPrefix("the recording does not have the notification "), true)
            XCTAssertEqual(try document.nodes(forXPath: "//failure").first?.stringValue, message)
            XCTAssertEqual(try document.nodes(forXPath: "/testsuites/testsuite/@failures").first?.stringValue, "1")
        }
    }

    func testAResultOfSARIFIsAtItsSourceLocationAtItsRuleOrInTheRecording() throws {
        func locations(_ check: RuleCheck, recordingPath: String? = "run.jsonl", path: String? = nil) throws -> [String]
        {
            let text = try check.sarif(version: "1.2.3", recordingPath: recordingPath) { path ?? $0 }
            return text.matches(of: /"region":{"startLine":(\d+)}|"uri":"([^"]*)"/).map {
                "\($0.2 ?? ":")\($0.1 ?? "")"
            }
        }
        let rules = "\nSaved on main\nSavd on main"
        XCTAssertEqual(try locations(check(rules)), ["Demo/main.swift", ":1", "ci/rules.txt", ":3"])
        XCTAssertEqual(try locations(check(rules, in: "-")), ["Demo/main.swift", ":1", "run.jsonl", ":1"])
        XCTAssertEqual(try locations(check(rules, in: "-"), recordingPath: nil), ["Demo/main.swift", ":1"])
        for (path, uri) in [
            ("/tmp/a b/ü.swift", "file:///tmp/a%20b/%C3%BC.swift"), ("c:d#1?.swift", "c%3Ad%231%3F.swift"),
        ] {
            XCTAssertEqual(try locations(check("Saved on main"), path: path)[0], uri)
        }
        let text = try check(rules).sarif(version: "1.2.3", recordingPath: nil) { $0 }
        XCTAssertTrue(text.contains(#""ruleId":"Saved on main"},{"level":"error""#), text)
        XCTAssertTrue(text.contains(#""message":{"text":"Saved on main: observer 1 of Saved ran on worker once\nrun."#))
        XCTAssertTrue(text.contains(#"{"fullDescription":{"text":"Handlers of NAME run on PLACE."},"help":"#))
    }
}
