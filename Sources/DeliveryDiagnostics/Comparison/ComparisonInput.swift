package import DeliveryRecording

/// An input of a comparison: a recording, or a text log.
package enum ComparisonInput: Sendable {
    case recording(Recording)
    case log(TextLog)

    /// Reads a file, or standard input for `-`. A recording begins with a brace, after white space or a byte order
    /// mark.
    ///
    /// - Parameter options: for a text log.
    /// - Parameter progress: called from time to time with the number of lines read.
    /// - Throws: `LogError`; for a text log also `LogPattern.Refusal`.
    package init(path: String, options: TextLog.Options = .init(), progress: (Int) -> Void = { _ in }) throws {
        var source = try LineSource(path: path)
        self =
            try source.firstByte() == UInt8(ascii: "{")
            ? .recording(try Recording(source, progress: progress))
            : .log(try TextLog(source, options: options, progress: progress))
    }

    /// The log, or the messages of the recording.
    ///
    /// - Throws: if the recording has no messages: most programs do not record what they print.
    package func log() throws(LogError) -> TextLog {
        switch self {
        case .log(let log): return log
        case .recording(let recording):
            let log = TextLog(recording)
            if log.messages.isEmpty {
                throw LogError(
                    log: log.name, line: nil,
                    problem:
                        "is a recording without log messages, so it cannot be compared with a text log. Compare it "
                        + "with another recording.")
            }
            return log
        }
    }
}
