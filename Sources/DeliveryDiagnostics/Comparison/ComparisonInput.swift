internal import Foundation

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
        if path != "-", Self.isRegularFile(path) {
            self = .recording(try Recording(path: path, progress: progress))
        } else {
            // A pipe gives its bytes once, and some of them are read.
            self = .recording(try Self.recording(&reader))
        }
    }

    public var isRecording: Bool {
        switch self {
        case .recording: true
        case .log: false
        }
    }

    private static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    private static func recording(_ reader: inout LogReader) throws(LogError) -> Recording {
        var bytes: [UInt8] = []
        while let chunk = try reader.nextChunk() { bytes += chunk }
        var builder = RecordingBuilder(source: reader.name)
        for (place, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            do {
                builder.append(try RecordLines.record(from: String(decoding: line, as: UTF8.self)))
            } catch {
                builder.note("this is no record: \(error).", line: place + 1)
            }
        }
        return builder.finish()
    }
}
