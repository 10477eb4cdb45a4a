import DeliveryRecording
import Foundation
import XCTest

@testable import DeliveryDiagnostics

final class SARIFReportTests: XCTestCase {
    private let recording = RecordedStory("add o1 Saved; give #1 o1 Saved; worker post #2 Lost n0; end - !exit")
        .recording

    private func text(
        _ rules: String, in file: String = "ci/rules.txt", recordingPath: String? = "run.jsonl",
        path: @escaping (String) -> String = { $0 }
    ) throws -> String {
        let check = RuleCheck(try RuleFile.rules(rules, path: file), RecordingIndex(recording))
        return try SARIFReport(check, version: "1.2.3", recordingPath: recordingPath, path: path).text()
    }

    /// The URI and line of each result.
    private func locations(_ text: String) -> [String] {
        text.matches(of: /"region":{"startLine":(\d+)}|"uri":"([^"]*)"/).map { "\($0.2 ?? ":")\($0.1 ?? "")" }
    }

    func testTheDocumentHasEachRuleOnceAndAResultForEachFindingAtItsSourceLocation() throws {
        XCTAssertEqual(
            try text("Saved on main\nno finding\nSaved on main").replacing("},{", with: "},\n{"),
            #"""
            {"$schema":"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.j\#
            son","runs":[{"results":[{"level":"error","locations":[{"physicalLocation":{"artifactLocation":{"ur\#
            i":"Demo/main.swift","uriBaseId":"%SRCROOT%"},"region":{"startLine":1}}}],"message":{"text":"Saved on \#
            main: observer 1 of Saved ran on worker once\nrun.jsonl:4 3 ms worker deliver #1 Saved observer 1; \#
            posted at Demo/main.swift:1001; observed at Demo/main.swift:1"},"ruleId":"Saved on main"},
            {"level":"error","locations":[{"physicalLocation":{"artifactLocation":{"uri":"Demo/main.swift","uri\#
            BaseId":"%SRCROOT%"},"region":{"startLine":1}}}],"message":{"text":"Saved on main: observer 1 of Saved \#
            ran on worker once\nrun.jsonl:4 3 ms worker deliver #1 Saved observer 1; posted at \#
            Demo/main.swift:1001; observed at Demo/main.swift:1"},"ruleId":"Saved on \#
            main"}],"tool":{"driver":{"name":"notify-demo","rules":[{"fullDescription":{"text":"Handlers of NAME \#
            run on PLACE."},"help":{"text":"Handlers of NAME run on PLACE. 'notify-demo help check' describes all \#
            rules."},"id":"Saved on main","shortDescription":{"text":"Saved on main"}},
            {"fullDescription":{"text":"'notify-demo diagnose' finds nothing."},"help":{"text":"'notify-demo \#
            diagnose' finds nothing. 'notify-demo help check' describes all rules."},"id":"no \#
            finding","shortDescription":{"text":"no finding"}}],"version":"1.2.3"}}}],"version":"2.1.0"}
            """#)
    }

    func testAFailureWithoutASourceLocationIsAtItsRuleOrInTheRecording() throws {
        let rules = "\nSavd on main\nLost observed"
        XCTAssertEqual(try locations(text(rules)), ["ci/rules.txt", ":2", "ci/rules.txt", ":3"])
        XCTAssertEqual(try locations(text(rules, in: "-")), ["run.jsonl", ":1", "run.jsonl", ":1"])
        XCTAssertEqual(try locations(text(rules, in: "-", recordingPath: nil)), [])
    }

    func testFilesAreURIsRelativeToTheWorkingDirectoryOrAbsolute() throws {
        for (path, uri) in [
            ("Sources/Demo/main.swift", "Sources/Demo/main.swift"),
            ("/tmp/a b/ü.swift", "file:///tmp/a%20b/%C3%BC.swift"),
            ("c:d#1?.swift", "c%3Ad%231%3F.swift"),
        ] { XCTAssertEqual(try locations(text("Saved on main") { _ in path })[0], uri) }
    }
}
