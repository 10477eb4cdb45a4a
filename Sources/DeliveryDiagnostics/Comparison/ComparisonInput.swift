package import DeliveryRecording

/// An input of the compare command: a recording, which begins with a brace, or a text log.
package enum ComparisonInput {
    case recording(Recording)
    case log(LogReader)

    /// Opens a file, or standard input for `-`. Reads it if it is a recording.
    ///
    /// - Parameter progress: called from time to time with the number of records read.
    package init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        var reader = try LogReader(path: path)
        guard try reader.firstByte() == UInt8(ascii: "{") else {
            self = .log(reader)
            return
        }
        // The reader has already consumed the first bytes, and a pipe delivers them only once.
        var unread: ArraySlice<UInt8> = []
        self = .recording(
            try Recording(name: reader.name, progress: progress) { buffer in
                if unread.isEmpty { unread = try reader.nextChunk() ?? [] }
                let next = unread.prefix(buffer.count)
                buffer.copyBytes(from: next)
                unread = unread.dropFirst(next.count)
                return next.count
            })
    }

    package var isRecording: Bool {
        switch self {
        case .recording: true
        case .log: false
        }
    }
}
