package import DeliveryRecording
internal import SystemPackage

/// An input of a comparison: a recording, or a text log.
package enum ComparisonInput: Sendable {
    case recording(Recording)
    case log(TextLog)

    /// Reads a file, or standard input for `-`. A recording begins with a brace, after white space or a byte order
    /// mark.
    ///
    /// - Parameter progress: called from time to time with the number of lines read.
    package init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        let name = path == "-" ? "standard input" : path.isEmpty ? "\"\"" : path
        let read: (UnsafeMutableRawBufferPointer) throws -> Int
        do {
            let file = path == "-" ? nil : try OpenFile(reading: path)
            read = { try (file?.descriptor ?? .standardInput).read(into: $0) }
        } catch {
            throw LogError(log: name, line: nil, problem: "cannot be opened: \(error).")
        }
        var beginning: [UInt8] = []
        do {
            while Self.first(of: beginning) == nil, beginning.count < LineSource.longestLine {
                let chunk = try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                    count = try read(UnsafeMutableRawBufferPointer(buffer))
                }
                if chunk.isEmpty { break }
                beginning += chunk
            }
        } catch {
            throw LogError(log: name, line: nil, problem: "cannot be read: \(error).")
        }
        // A pipe delivers its bytes only once, so the beginning is read again from memory.
        var unread = beginning[...]
        let readChunk: (UnsafeMutableRawBufferPointer) throws -> Int = { buffer in
            if unread.isEmpty { return try read(buffer) }
            let next = unread.prefix(buffer.count)
            buffer.copyBytes(from: next)
            unread = unread.dropFirst(next.count)
            return next.count
        }
        self =
            Self.first(of: beginning) == UInt8(ascii: "{")
            ? .recording(try Recording(name: name, progress: progress, readChunk: readChunk))
            : .log(try TextLog(name: name, progress: progress, readChunk: readChunk))
    }

    /// The first byte that is not white space or part of a byte order mark; nil if it is not known yet.
    private static func first(of bytes: [UInt8]) -> UInt8? {
        bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    }

    package var isRecording: Bool {
        switch self {
        case .recording: true
        case .log: false
        }
    }

    package var isCombinedOutput: Bool {
        switch self {
        case .recording: false
        case .log(let log): log.isCombinedOutput
        }
    }
}
