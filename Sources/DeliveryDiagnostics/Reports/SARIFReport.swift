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
        var ids: Set<String> = []
        let rules = check.results.map(\.rule).filter { ids.insert("\($0)").inserted }.map { rule in
            [
                "id": "\(rule)", "shortDescription": message("\(rule)"), "fullDescription": message(rule.form.meaning),
                "help": message("\(rule.form.meaning) 'notify-demo help check' describes all rules."),
            ] as [String: Any]
        }
        let results = check.results.flatMap { result in
            result.reported(check.words).map { finding in
                let place =
                    finding.location.map { location($0.file, line: $0.line) }
                    ?? result.rule.origin.map { location($0.file, line: $0.line) }
                    ?? recordingPath.map { location($0, line: 1) }
                let lines = ["\(finding.title): \(finding.text)"] + finding.lines
                return [
                    "ruleId": finding.title, "level": "error", "message": message(lines.joined(separator: "\n")),
                    "locations": [place].compactMap(\.self),
                ] as [String: Any]
            }
        }
        let driver: [String: Any] = ["name": "notify-demo", "version": version, "rules": rules]
        return try JSONText.of([
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0", "runs": [["tool": ["driver": driver], "results": results] as [String: Any]],
        ])
    }

    /// As section 3.11 has it: braces are doubled, because they would be a placeholder, and brackets that would be a
    /// link have a backslash.
    private func message(_ text: String) -> [String: String] {
        let text = text.replacing("{", with: "{{").replacing("}", with: "}}")
        guard text.contains("](") else { return ["text": text] }
        return ["text": text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")]
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
