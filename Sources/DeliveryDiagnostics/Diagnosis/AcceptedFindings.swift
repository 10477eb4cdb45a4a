package import DeliveryRecording
internal import Foundation
internal import TerminalText

/// Findings that a project accepts. A file has one on each line: its kind, and optionally the name of its notification,
/// which may be without its module.
///
///     # The bell is posted by the next version.
///     unmatchedName BellRang
///     dropped
///
/// Text after `#` at the beginning of a line or after a space is a comment.
package struct AcceptedFindings: Sendable, Hashable {
    private struct Line: Sendable, Hashable {
        let kind: String
        let name: String?
        /// For example `accepted.txt:3: unmatchedName BellRang`.
        let place: String
    }

    private var lines: [Line] = []

    package init() {}

    /// - Throws: `LogError` if the file cannot be read, or if a line has an unknown kind.
    package init(path: String) throws(LogError) {
        try self.init(text: try RuleFile.text(path: path, of: "accepted findings"), source: path)
    }

    package init(text: String, source: String) throws(LogError) {
        for (number, line) in zip(1..., text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)) {
            let content = " \(line)".replacing(#/\s#.*/#, with: "").trimmingCharacters(in: .whitespaces)
            let words = content.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
            guard let kind = words.first else { continue }
            if let problem = Detector.problem(withName: kind) {
                throw LogError(log: source, line: number, problem: problem)
            }
            let name = words.count == 2 ? words[1].trimmingCharacters(in: .whitespaces) : nil
            let place = "\(source):\(number): \([kind, name].compactMap(\.self).joined(separator: " "))"
            lines.append(Line(kind: kind, name: name, place: ShownText.escaped(place)))
        }
    }

    /// Removes the findings that are accepted.
    ///
    /// - Returns: the places of the lines that accept none of them.
    func remove(from findings: inout [Finding], of recording: Recording) -> [String] {
        var unused = Set(lines)
        findings.removeAll { finding in
            let name = finding.name < 0 ? "" : recording.strings[Int(finding.name)]
            func isName(_ accepted: String) -> Bool {
                accepted == name
                    || Suggestion.isLastComponent(accepted, of: name)
                        && recording.name(called: accepted) == finding.name
            }
            let accepting = lines.filter { finding.isCalled($0.kind) && $0.name.map(isName) != false }
            unused.subtract(accepting)
            return !accepting.isEmpty
        }
        return lines.filter(unused.contains).map(\.place)
    }
}
