internal import ThreadedNotifications

/// What GitHub Actions reads in the output of a job: annotations, which the tool prints on purpose, and commands that a
/// name in a recording might contain, which it never prints.
package enum WorkflowCommands {
    private static let maximumReported = 10

    /// The lines that annotate a job: an error for each problem and a warning for each note, ten of each, and the
    /// number of the others.
    ///
    /// - Parameter path: finds the file of a source location, relative to the workspace; nil if it is not there. The
    ///   location is then in the message.
    package static func annotations(_ findings: [ReportedFinding], path: (String) -> String?) -> [String] {
        [("error", true), ("warning", false)].flatMap { command, isProblem in
            let all = findings.filter { $0.isProblem == isProblem }
            let shown = all.prefix(maximumReported).map { annotation(command, $0, path) }
            return shown + (all.count > shown.count ? ["and \(counted(all.count - shown.count, command)) more"] : [])
        }
    }

    private static func annotation(
        _ command: String, _ finding: ReportedFinding, _ path: (String) -> String?
    ) -> String {
        var (properties, text) = ([("title", finding.title)], ([finding.text] + finding.lines).joined(separator: "\n"))
        if let location = finding.location, let file = path(location.file) {
            properties = [("file", file), ("line", "\(location.line)")] + properties
        } else if let location = finding.location {
            text = "\(location): \(text)"
        }
        let list = properties.map { "\($0)=\(escaped($1, isProperty: true))" }.joined(separator: ",")
        let line = "::\(command) \(list)::\(escaped(text, isProperty: false))"
        var neutralizer = Neutralizer(isInLine: true)
        return String(decoding: neutralizer.bytes(Array(line.utf8)), as: UTF8.self)
    }

    private static func escaped(_ text: String, isProperty: Bool) -> String {
        let codes: [Unicode.Scalar: String] = ["%": "%25", "\r": "%0D", "\n": "%0A"]
        let ofProperties: [Unicode.Scalar: String] = isProperty ? [":": "%3A", ",": "%2C"] : [:]
        return text.unicodeScalars.map { codes[$0] ?? ofProperties[$0] ?? "\($0)" }.joined()
    }

    /// Makes output free of commands: no line begins with `::`, also after blanks, and none contains `##[`. The last
    /// character is written as an escape of JSON, so that JSON stays valid.
    package struct Neutralizer: Sendable {
        private enum Position { case beginning, colon, inside }

        private var position: Position
        private var hashes = 0

        /// - Parameter isInLine: true if the text continues a line.
        package init(isInLine: Bool = false) { position = isInLine ? .inside : .beginning }

        package mutating func bytes(_ bytes: [UInt8]) -> [UInt8] {
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            for byte in bytes {
                let isCommand = position == .colon && byte == UInt8(ascii: ":")
                if isCommand || hashes > 1 && byte == UInt8(ascii: "[") {
                    result += (isCommand ? "\\u003a" : "\\u005b").utf8
                } else {
                    result.append(byte)
                }
                hashes = byte == UInt8(ascii: "#") ? hashes + 1 : 0
                switch byte {
                // Both end a line.
                case UInt8(ascii: "\n"), UInt8(ascii: "\r"): position = .beginning
                // Blanks are skipped, also those that are not ASCII.
                case UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0B, 0x0C, 0x80...:
                    if position == .colon { position = .inside }
                case UInt8(ascii: ":"): position = position == .beginning ? .colon : .inside
                default: position = .inside
                }
            }
            return result
        }
    }
}
