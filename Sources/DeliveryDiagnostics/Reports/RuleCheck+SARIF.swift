internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

extension RuleCheck {
    /// The rules that do not hold in the Static Analysis Results Interchange Format, version 2.1.0
    /// (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>), with the properties that GitHub's code
    /// scanning requires: one JSON document with sorted keys.
    ///
    /// A result is at the source location of its evidence. If that is not known, it is at the rule in its file, or in
    /// the recording.
    ///
    /// - Parameters:
    ///   - recordingPath: nil for standard input.
    ///   - path: finds the file that a source location names: a path relative to the working directory, or an absolute
    ///     path.
    package func sarif(version: String, recordingPath: String?, path: (String) -> String) throws -> String {
        let rules = Dictionary(results.map { ($0.rule.text, $0.rule.form.meaning) }) { $1 }.sorted { $0.key < $1.key }
            .map { rule, meaning in
                [
                    "id": rule, "shortDescription": message(rule), "fullDescription": message(meaning),
                    "help": message(meaning),
                ] as [String: Any]
            }
        let found = results.flatMap { result in
            result.violations.map { finding in
                let place =
                    finding.location.map { ($0.file, $0.line) } ?? result.rule.origin ?? recordingPath.map { ($0, 1) }
                let lines = ["\(finding.title): \(finding.problem)"] + finding.lines
                return [
                    "ruleId": finding.title, "level": "error", "message": message(lines.joined(separator: "\n")),
                    "locations": place.map { [location(path($0), line: $1)] } ?? [],
                ] as [String: Any]
            }
        }
        let driver: [String: Any] = ["name": "notify-demo", "version": version, "rules": rules]
        return try JSONText.of([
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0", "runs": [["tool": ["driver": driver], "results": found] as [String: Any]],
        ])
    }

    /// As section 3.11 has it: braces are doubled, because they would be a placeholder, and brackets that would be a
    /// link have a backslash.
    private func message(_ text: String) -> [String: String] {
        let text = text.replacing("{", with: "{{").replacing("}", with: "}}")
        guard text.contains("](") else { return ["text": text] }
        return ["text": text.replacing("\\", with: "\\\\").replacing("[", with: "\\[").replacing("]", with: "\\]")]
    }

    private func location(_ path: String, line: Int) -> [String: Any] {
        // A colon before the first slash would end a scheme.
        let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: ":"))
        let encoded = path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
        let artifact =
            path.hasPrefix("/") ? ["uri": "file://\(encoded)"] : ["uri": encoded, "uriBaseId": "%SRCROOT%"]
        return ["physicalLocation": ["artifactLocation": artifact, "region": ["startLine": max(1, line)]]]
    }
}
