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
    package var log: TextLog {
        switch self {
        case .recording(let recording): TextLog(recording)
        case .log(let log): log
        }
    }
}
