/// What a command is given to compare: a recording or a text log. A recording begins with a brace.
public enum ComparisonInput {
    case recording(Recording)
    case log(LogReader)

    /// Opens a file, or standard input for `-`, and reads it if it is a recording.
    ///
    /// - Parameter progress: told now and then how many records were read.
    public init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        var reader = try LogReader(path: path)
        guard try reader.firstByte() == UInt8(ascii: "{") else {
            self = .log(reader)
            return
        }
        // A pipe gives its bytes once, and some of them are read.
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

    public var isRecording: Bool {
        switch self {
        case .recording: true
        case .log: false
        }
    }
}
