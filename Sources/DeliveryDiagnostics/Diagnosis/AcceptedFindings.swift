package import DeliveryRecording
internal import Foundation
internal import TerminalText

/// Findings that a project accepts. A text has one on each line: its kind, and optionally the name of its notification,
/// which may be without its module.
///
///     # The bell is posted by the next version.
///     unmatchedName BellRang
///     dropped
///
/// Text after `#` at the beginning of a line or after a space is a comment.
package struct AcceptedFindings: Sendable {
    /// The place is for example `accepted.txt:3: unmatchedName BellRang`.
    private var lines: [(kind: String, name: String?, place: String)] = []

    package init() {}

    /// - Throws: `LogError` if a line has an unknown kind.
    package init(text: String, source: String) throws(LogError) {
        for (number, line) in zip(1..., text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)) {
            let content = " \(line)".replacing(#/\s#.*/#, with: "").trimmingCharacters(in: .whitespaces)
            if content.isEmpty { continue }
            let words = content.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
            guard let kind = Detector.kind(called: words[0]) else {
                throw LogError(log: source, line: number, problem: Detector.problem(withKind: words[0]))
            }
            let name = words.dropFirst().first?.trimmingCharacters(in: .whitespaces)
            lines.append((kind, name, ShownText.escaped("\(source):\(number): \(content)")))
        }
    }

    /// Removes the findings that are accepted.
    ///
    /// - Returns: the places of the lines that accept none of them.
    func remove(from findings: inout [Finding], of recording: Recording) -> [String] {
        let all = findings
        return lines.compactMap { line in
            let ofKind = all.filter { $0.kind == line.kind }
            // An unknown name is that of no finding.
            let name = ofKind.isEmpty ? nil : line.name.map { recording.name(called: $0) ?? .min }
            let accepted = Set(ofKind.filter { name ?? $0.name == $0.name })
            findings.removeAll(where: accepted.contains)
            return accepted.isEmpty ? line.place : nil
        }
    }
}
