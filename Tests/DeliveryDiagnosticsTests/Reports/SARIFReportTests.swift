import DeliveryRecording
import Foundation
import XCTest

@testable import DeliveryDiagnostics

final class SARIFReportTests: XCTestCase {
    private let wrong = RecordedStory.complete { story in
        story.register(1, "Saved")
        story.deliver(1, to: [1], "Saved")
        story.add(.post, on: RecordedStory.worker, "Lost", post: 2, count: 0)
    }

    private func report(
        _ rules: [Rule], recordingPath: String? = "run.jsonl", path: @escaping (String) -> String = { $0 }
    ) throws -> [String: Any] {
        let check = RuleCheck(rules, RecordingIndex(wrong))
        let text = try SARIFReport(check, version: "1.2.3", recordingPath: recordingPath, path: path).text()
        return try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func results(_ report: [String: Any]) throws -> [[String: Any]] {
        let run = try XCTUnwrap((report["runs"] as? [[String: Any]])?.first)
        return try XCTUnwrap(run["results"] as? [[String: Any]])
    }

    private func rules(_ text: String, path: String = "ci/rules.txt") throws -> [Rule] {
        try RuleFile.rules(text, path: path)
    }

    /// The file and line of each result.
    private func locations(_ report: [String: Any]) throws -> [String] {
        try results(report).map { result in
            guard let location = (result["locations"] as? [[String: Any]])?.first else { return "none" }
            let physical = location["physicalLocation"] as? [String: [String: Any]]
            let artifact = physical?["artifactLocation"]
            let base = (artifact?["uriBaseId"] as? String).map { "\($0)/" } ?? ""
            return base + "\(artifact?["uri"] ?? ""):\(physical?["region"]?["startLine"] ?? "")"
        }
    }

    func testAResultHasTheRuleTheEvidenceAndTheSourceLocationOfTheObserverOrThePost() throws {
        let report = try report(rules("Saved on main\nno finding\nno post longer than 1 s\nno post longer than 0 ms"))
        XCTAssertEqual(
            try results(report).map { ($0["message"] as? [String: String])?["text"] },
            [
                """
                Saved on main: observer 1 of Saved ran on worker once
                run.jsonl:4 3 ms worker deliver #1 Saved observer 1; posted at Demo/main.swift:1001; \
                observed at Demo/main.swift:1
                """,
                """
                no post longer than 0 ns: a post of Saved blocked main for 1 ms
                run.jsonl:2 1 ms main post #1 Saved to 1 observer; at Demo/main.swift:1001
                run.jsonl:3 2 ms main append #1 Saved observer 1 for worker; posted at Demo/main.swift:1001; \
                observed at Demo/main.swift:1
                """,
            ])
        XCTAssertEqual(
            try locations(report), ["%SRCROOT%/Demo/main.swift:1", "%SRCROOT%/Demo/main.swift:1001"])
    }

    func testAFailureWithoutASourceLocationIsAtItsRuleOrInTheRecording() throws {
        XCTAssertEqual(
            try locations(report(rules("\nSavd on main\nLost observed"))),
            ["%SRCROOT%/ci/rules.txt:2", "%SRCROOT%/ci/rules.txt:3"])
        let unnamed = try rules("Savd on main\nLost observed", path: "-")
        XCTAssertEqual(try locations(report(unnamed)), ["%SRCROOT%/run.jsonl:1", "%SRCROOT%/run.jsonl:6"])
        XCTAssertEqual(try locations(report(unnamed, recordingPath: nil)), ["none", "none"])
    }

    func testTheLastOfAThousandResultsOfARuleCountsTheRest() throws {
        let many = RecordedStory.complete { story in
            for number in 1...1002 {
                story.add(.post, on: RecordedStory.worker, "Lost\(number)", post: number, count: 0)
            }
        }
        let check = RuleCheck(try rules("every post observed"), RecordingIndex(many))
        let text = try SARIFReport(check, version: "1.2.3", recordingPath: "run.jsonl") { $0 }.text()
        let report = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let messages = try results(report).map { ($0["message"] as? [String: String])?["text"] }
        XCTAssertEqual(messages.count, 1000)
        XCTAssertEqual(messages.last, "every post observed: and 3 more")
    }

    func testFilesAreURIsRelativeToTheWorkingDirectoryOrAbsolute() throws {
        for (path, uri) in [
            ("Sources/Demo/main.swift", "%SRCROOT%/Sources/Demo/main.swift"),
            ("/tmp/a b/ü.swift", "file:///tmp/a%20b/%C3%BC.swift"), ("c:d#1?.swift", "%SRCROOT%/c%3Ad%231%3F.swift"),
        ] { XCTAssertEqual(try locations(report(rules("Saved on main")) { _ in path }), ["\(uri):1"]) }
    }

    func testTheDocumentHasThePropertiesThatTheSchemaRequiresAndNoOthers() throws {
        for text in [
            "Saved on main\nSaved on main\nSavd observed\nno problem\nno finding\nLost observed",
            "Saved on thread worker",
        ] {
            let report = try report(rules(text))
            try SARIFSchema.check(report)
        }
        let run = (try report(rules("Saved on main\nSaved on main\nno flood"))["runs"] as? [[String: Any]])?.first
        let driver = (run?["tool"] as? [String: [String: Any]])?["driver"]
        let ids = (driver?["rules"] as? [[String: Any]])?.map { $0["id"] as? String }
        XCTAssertEqual(ids, ["Saved on main", "no flood"])
    }
}

/// The properties that the report's objects have, all of which SARIF 2.1.0 and GitHub require or allow.
private enum SARIFSchema {
    private static let properties: [String: Set<String>] = [
        "document": ["$schema", "version", "runs"], "runs": ["tool", "results"], "tool": ["driver"],
        "driver": ["name", "version", "rules"],
        "rules": ["id", "shortDescription", "fullDescription", "help", "defaultConfiguration"],
        "shortDescription": ["text"], "fullDescription": ["text"], "help": ["text"], "message": ["text"],
        "defaultConfiguration": ["level"], "results": ["ruleId", "ruleIndex", "level", "message", "locations"],
        "locations": ["physicalLocation"], "physicalLocation": ["artifactLocation", "region"],
        "artifactLocation": ["uri", "uriBaseId"], "region": ["startLine"],
    ]

    static func check(_ value: Any, _ key: String = "document") throws {
        switch value {
        case let object as [String: Any]:
            let keys = try XCTUnwrap(properties[key], key)
            XCTAssertTrue(keys.subtracting(object.keys).isSubset(of: ["locations", "uriBaseId"]), "\(object)")
            XCTAssertTrue(keys.isSuperset(of: object.keys), "\(object)")
            for (key, value) in object { try check(value, key) }
        case let values as [Any]: for value in values { try check(value, key) }
        case let line as Int: XCTAssertGreaterThanOrEqual(line, key == "startLine" ? 1 : 0)
        default:
            let text = try XCTUnwrap(value as? String)
            XCTAssertFalse(text.isEmpty, key)
            if key == "uri" { XCTAssertNotNil(URL(string: text, encodingInvalidCharacters: false)) }
            if key == "level" { XCTAssertEqual(text, "error") }
        }
    }
}
