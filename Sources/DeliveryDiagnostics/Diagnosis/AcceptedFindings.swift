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
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw LogError(
                log: path, line: nil, problem: "cannot be read. Give a file of accepted findings.")
        }
        try self.init(text: text, source: path)
    }

    package init(text: String, source: String) throws(LogError) {
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            let content = " \(line)".firstRange(of: " #").map { " \(line)"[..<$0.lowerBound] } ?? line
            let words = content.split(maxSplits: 1, whereSeparator: \.isWhitespace)
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            guard let kind = words.first else { continue }
            if let problem = Finding.Kind.problem(withName: kind) {
                throw LogError(log: source, line: number + 1, problem: problem)
            }
            let place = "\(source):\(number + 1): \(words.joined(separator: " "))"
            lines.append(
                Line(kind: kind, name: words.count == 2 ? words[1] : nil, place: ShownText.escaped(place)))
        }
    }

    /// Removes the findings that are accepted.
    ///
    /// - Returns: the places of the lines that accept none of them.
    func remove(from findings: inout [Finding], of recording: Recording) -> [String] {
        var isUsed = [Bool](repeating: false, count: lines.count)
        findings.removeAll { finding in
            let accepting = lines.indices.filter { Self.accepts(lines[$0], finding, recording) }
            for line in accepting { isUsed[line] = true }
            return !accepting.isEmpty
        }
        return zip(lines, isUsed).filter { !$1 }.map(\.0.place)
    }

    private static func accepts(_ line: Line, _ finding: Finding, _ recording: Recording) -> Bool {
        guard finding.isCalled(line.kind) else { return false }
        guard let accepted = line.name else { return true }
        guard finding.name >= 0, case let name = recording.strings[Int(finding.name)] else {
            return false
        }
        return accepted == name
            || Suggestion.isLastComponent(accepted, of: name)
                && recording.name(called: accepted) == finding.name
    }
}
