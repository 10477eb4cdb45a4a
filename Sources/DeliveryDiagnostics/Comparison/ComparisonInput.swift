package import DeliveryRecording
internal import TerminalText

/// An input of a comparison: a recording, or a text log.
package enum ComparisonInput: Sendable {
    case recording(Recording)
    case log(TextLog)

    /// Reads a file, or standard input for `-`. A recording begins with a brace, after white space or a byte order
    /// mark.
    ///
    /// - Parameter options: for a text log.
    /// - Throws: `LogError`; for a text log also `LogPattern.Refusal`.
    package init(path: String, options: TextLog.Options = .init()) throws {
        var source = try LineSource(path: path)
        self =
            try source.firstByte() == UInt8(ascii: "{")
            ? .recording(try Recording(source)) : .log(try TextLog(source, options: options))
    }

    /// The recordings, or the logs.
    ///
    /// - Throws: `LogError` if there are both: a log does not contain causes.
    package static func split(_ inputs: [ComparisonInput]) throws(LogError) -> ([Recording], [TextLog]) {
        let recordings = inputs.compactMap { if case .recording(let recording) = $0 { recording } else { nil } }
        let logs = inputs.compactMap { if case .log(let log) = $0 { log } else { nil } }
        if let recording = recordings.first, let log = logs.first {
            throw LogError(
                log: recording.source, line: nil,
                problem: "is a recording, and \(ShownText.escaped(log.name)) is a text log. Compare recordings with "
                    + "recordings, and logs with logs.")
        }
        return (recordings, logs)
    }
}
