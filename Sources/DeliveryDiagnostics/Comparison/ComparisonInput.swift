package import DeliveryRecording

/// An input of a comparison: a recording, or a text log.
package enum ComparisonInput: Sendable {
    case recording(Recording)
    case log(TextLog)

    /// Reads a file, or standard input for `-`. A recording begins with a brace, after white space or a byte order
    /// mark.
    ///
    /// - Parameter progress: called from time to time with the number of lines read.
    package init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        var source = try LineSource(path: path)
        self =
            try source.firstByte() == UInt8(ascii: "{")
            ? .recording(try Recording(source, progress: progress)) : .log(try TextLog(source, progress: progress))
    }

    var log: TextLog? { if case .log(let log) = self { log } else { nil } }

    package var isRecording: Bool { log == nil }

    /// The recording, or the log's messages as one. Returns also the number of lines that were skipped.
    func recording(skipsOtherLines: Bool) -> (recording: Recording, skipped: Int) {
        switch self {
        case .recording(let recording): (recording, 0)
        case .log(let log): log.recording(skipsOtherLines: skipsOtherLines)
        }
    }
}
