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
        var neutralizer = Neutralizer()
        return String(decoding: neutralizer.bytes(Array(escaped.utf8)), as: UTF8.self)
    }

    /// Makes output free of commands: it contains neither `::` nor `##[`. The last character is written as an escape of
    /// JSON, so that JSON stays valid.
    package struct Neutralizer: Sendable {
        /// The byte before, and the one before that.
        private var (last, first) = (UInt8(0), UInt8(0))

        package init() {}

        package mutating func bytes(_ bytes: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            for byte in bytes {
                if byte == UInt8(ascii: ":"), last == byte {
                    result += "\\u003a".utf8
                    (first, last) = (0, 0)
                } else if byte == UInt8(ascii: "["), last == UInt8(ascii: "#"), first == last {
                    result += "\\u005b".utf8
                    (first, last) = (0, 0)
                } else {
                    result.append(byte)
                    (first, last) = (last, byte)
                }
            }
            return result
        }
    }
}
