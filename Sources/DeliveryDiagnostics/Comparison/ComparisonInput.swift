internal import Foundation
internal import SystemPackage

/// What a command is given to compare: a recording or a text log. A recording begins with a brace.
public enum ComparisonInput {
    case recording(Recording)
    case log(LogReader)

    /// Opens a file, or standard input for `-`, and reads it if it is a recording.
    ///
    /// - Parameter progress: told now and then how many records were read.
    public init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        guard path == "-" else {
            let reader = try LogReader(path: path)
            var first: [UInt8] = []
            do {
                let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
                first = try file.closeAfter { try Self.read(from: file) }
            } catch {
                throw LogError(log: path, line: nil, problem: "cannot be read: \(error).")
            }
            self = Self.isRecording(first) ? .recording(try Recording(path: path, progress: progress)) : .log(reader)
            return
        }
        var first: [UInt8] = []
        do {
            first = try Self.read(from: .standardInput)
            if Self.isRecording(first) {
                self = .recording(try Self.recording(after: first))
                return
            }
        } catch let error as LogError {
            throw error
        } catch {
            throw LogError(log: "standard input", line: nil, problem: "cannot be read: \(error).")
        }
        var rest = first[...]
        self = .log(
            LogReader(name: "standard input") { buffer in
                guard !rest.isEmpty else { return try FileDescriptor.standardInput.read(into: buffer) }
                let next = rest.prefix(buffer.count)
                buffer.copyBytes(from: next)
                rest = rest.dropFirst(next.count)
                return next.count
            })
    }

    private static func isRecording(_ first: [UInt8]) -> Bool { first.first == UInt8(ascii: "{") }

    private static func read(from file: FileDescriptor) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// What was read of standard input cannot be read again, so it is taken from here.
    private static func recording(after first: [UInt8]) throws -> Recording {
        var bytes = first
        while true {
            let next = try read(from: .standardInput)
            if next.isEmpty { break }
            bytes += next
        }
        var builder = RecordingBuilder(source: "standard input")
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

extension ComparisonInput {
    public var isRecording: Bool {
        switch self {
        case .recording: true
        case .log: false
        }
    }
}
