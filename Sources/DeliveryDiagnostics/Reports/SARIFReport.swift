internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Formats rules that do not hold in the Static Analysis Results Interchange Format, version 2.1.0
/// (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>), with the properties that GitHub's code
/// scanning requires.
///
/// A result is at the source location of its evidence. If that is not known, it is at the rule in its file, or in the
/// recording.
package struct SARIFReport {
    /// The largest number of results for one rule. The last of them counts the rest.
    private static let maximumResults = 1000

    private let check: RuleCheck
    private let version: String
    private let recordingPath: String?
    /// Finds the file of a source location.
    private let path: (String) -> String

    /// - Parameters:
    ///   - version: the version of the program.
    ///   - recordingPath: nil for standard input.
    ///   - path: finds the file that a source location, the recording's path or a rule's file names: a path relative to
    ///     the working directory, or an absolute path.
    package init(_ check: RuleCheck, version: String, recordingPath: String?, path: @escaping (String) -> String) {
        (self.check, self.version, self.recordingPath, self.path) = (check, version, recordingPath, path)
    }

    /// One JSON document with sorted keys.
    package func text() throws -> String {
        let rules = check.results.map(\.rule).reduce(into: [Rule]()) { rules, rule in
            if !rules.contains(where: { "\($0)" == "\(rule)" }) { rules.append(rule) }
        }
        let results = check.results.flatMap { result in
            self.results(of: result, rules.firstIndex { "\($0)" == "\(result.rule)" } ?? 0)
        }
        let driver: [String: Any] = ["name": "notify-demo", "version": version, "rules": rules.map(descriptor)]
        return try JSONText.of([
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0", "runs": [["tool": ["driver": driver], "results": results] as [String: Any]],
        ])
    }

    private func descriptor(_ rule: Rule) -> [String: Any] {
        let (name, meaning) = (Self.escaped("\(rule)"), Self.escaped(rule.meaning))
        return [
            "id": "\(rule)", "shortDescription": ["text": name], "fullDescription": ["text": meaning],
            "help": ["text": "\(meaning) 'notify-demo help check' describes all rules."],
            "defaultConfiguration": ["level": "error"],
        ]
    }

    private func results(of result: RuleResult, _ number: Int) -> [[String: Any]] {
        var reported = result.reported(check.words)
        if reported.count > Self.maximumResults {
            let more = reported.count - Self.maximumResults + 1
            reported.removeLast(more)
            reported.append(ReportedFinding(title: "\(result.rule)", text: "and \(more) more"))
        }
        return reported.enumerated().map { position, finding in
            let lines = ["\(finding.title): \(finding.text)"] + finding.lines
            let evidence = position < result.findings.count ? result.findings[position].evidence.first : nil
            let line = evidence.map { Int(check.words.index.entry($0).line) } ?? 1
            let location =
                finding.location.map { self.location($0.file, line: $0.line) }
                ?? result.rule.origin.map { self.location($0.file, line: $0.line) }
                ?? recordingPath.map { self.location($0, line: line) }
            var object: [String: Any] = [
                "ruleId": finding.title, "ruleIndex": number, "level": "error",
                "message": ["text": Self.escaped(lines.joined(separator: "\n"))],
            ]
            object["locations"] = location.map { [$0] }
            return object
        }
    }

    /// Text of a message as section 3.11 has it: braces are doubled, because they would be a placeholder, and brackets
    /// that would be a link have a backslash.
    private static func escaped(_ text: String) -> String {
        let text = text.replacing("{", with: "{{").replacing("}", with: "}}")
        guard text.contains("](") else { return text }
        return text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")
    }

    private func location(_ file: String, line: Int) -> [String: Any] {
        let path = path(file)
        // A colon before the first slash would end a scheme.
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: ":"))
        let encoded = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
        let artifact =
            path.hasPrefix("/") ? ["uri": "file://\(encoded)"] : ["uri": encoded, "uriBaseId": "%SRCROOT%"]
        return ["physicalLocation": ["artifactLocation": artifact, "region": ["startLine": max(1, line)]]]
    }
}
