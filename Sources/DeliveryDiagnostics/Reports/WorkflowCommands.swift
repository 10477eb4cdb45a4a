internal import ThreadedNotifications

/// What GitHub Actions reads in the output of a job: annotations, which the tool prints on purpose, and commands that a
/// name in a recording might contain, which it never prints.
package enum WorkflowCommands {
    /// The lines that annotate a job: an error for each problem and a warning for each note, ten of each, and the
    /// number of the others.
    ///
    /// - Parameter path: finds the file of a source location, relative to the workspace; nil if it is not there. The
    ///   location is then in the message.
    package static func annotations(_ findings: [Finding], path: (String) -> String?) -> [String] {
        [("error", Finding.Severity.problem), ("warning", .note)].flatMap { command, severity in
            let all = findings.filter { $0.severity == severity }
            return all.prefix(10).map { annotation(command, $0, path) }
                + (all.count > 10 ? ["and \(counted(all.count - 10, command)) more"] : [])
        }
    }

    private static func annotation(_ command: String, _ finding: Finding, _ path: (String) -> String?) -> String {
        var place = ""
        var text = ([finding.problem] + finding.lines).joined(separator: "\n")
        if let location = finding.location, let file = path(location.file) {
            place = "file=\(escaped(file, isProperty: true)),line=\(location.line),"
        } else if let location = finding.location {
            text = "\(location): \(text)"
        }
        let title = escaped(finding.title, isProperty: true)
        return "::\(command) \(place)title=\(title)::\(escaped(text, isProperty: false))"
    }

    private static func escaped(_ text: String, isProperty: Bool) -> String {
        let codes: [Unicode.Scalar: String] = ["%": "%25", "\r": "%0D", "\n": "%0A"]
        let ofProperties: [Unicode.Scalar: String] = isProperty ? [":": "%3A", ",": "%2C"] : [:]
        let escaped = text.unicodeScalars.map { codes[$0] ?? ofProperties[$0] ?? "\($0)" }.joined()
        return String(decoding: neutralized(Array(escaped.utf8)), as: UTF8.self)
    }

    /// Whole lines of output without commands: they contain neither `::` nor `##[`. The last character is written as an
    /// escape of JSON, so that JSON stays valid.
    package static func neutralized(_ lines: [UInt8]) -> [UInt8] {
        lines.replacing("::".utf8, with: #":\u003a"#.utf8).replacing("##[".utf8, with: #"##\u005b"#.utf8)
    }
}
