package import DeliveryRecording
internal import Foundation

/// Findings that a project accepts. A file has one on each line: its kind, and optionally the name of its notification,
/// which may be without its module.
///
///     # The bell is posted by the next version.
///     nameNeverPosted BellRang
///     mainHeldUp
///
/// Text after `#` at the beginning of a line or after a space is a comment.
package struct AcceptedFindings: Sendable, Hashable {
    /// A kind, or a kind and a name.
    private var accepted: Set<[String]> = []

    package init() {}

    /// - Throws: `LogError` if the file cannot be read, or if a line has an unknown kind.
    package init(path: String) throws(LogError) {
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw LogError(log: path, line: nil, problem: "cannot be read. Give a file of accepted findings.")
        }
        try self.init(text: text, source: path)
    }

    package init(text: String, source: String) throws(LogError) {
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let content = " \(line)".firstRange(of: " #").map { " \(line)"[..<$0.lowerBound] } ?? line
            let words = content.split(maxSplits: 1, whereSeparator: \.isWhitespace)
                .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            guard let kind = words.first else { continue }
            let known = Finding.Kind.allCases.map(\.rawValue)
            guard known.contains(kind) else {
                let nearest = Suggestion.nearest(to: kind, among: known).map { " Did you mean \($0)?" } ?? ""
                throw LogError(
                    log: source, line: number + 1,
                    problem: "\"\(Excerpt.of(kind))\" is not a kind of finding.\(nearest) The kinds are in the output "
                        + "of 'diagnose --json'.")
            }
            accepted.insert(words)
        }
    }

    func accepts(_ finding: Finding, in recording: Recording) -> Bool {
        accepted.contains([finding.kind.rawValue])
            || finding.name >= 0
                && accepted.contains { words in
                    guard words.count == 2, words[0] == finding.kind.rawValue else { return false }
                    let name = recording.strings[Int(finding.name)]
                    return words[1] == name
                        || Suggestion.isLastComponent(words[1], of: name)
                            && recording.name(called: words[1]) == finding.name
                }
    }
}
