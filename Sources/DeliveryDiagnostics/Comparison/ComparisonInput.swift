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
        var (beginning, isAtEnd): ([UInt8], Bool) = ([], false)
        do {
            while Self.first(of: beginning) == nil, !isAtEnd, beginning.count < LineSource.longestLine {
                beginning += try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                    count = try read(UnsafeMutableRawBufferPointer(buffer))
                    isAtEnd = count == 0
                }
            }
        } catch {
            throw LogError(log: name, line: nil, problem: "cannot be read: \(error).")
        }
        // A pipe delivers its bytes only once, so the beginning is read again from memory.
        var unread = beginning[...]
        let readChunk: (UnsafeMutableRawBufferPointer) throws -> Int = { buffer in
            unread.isEmpty ? try read(buffer) : unread.take(into: buffer)
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

    var log: TextLog? { if case .log(let log) = self { log } else { nil } }

    package var isRecording: Bool { log == nil }

    var isCombinedOutput: Bool { log?.isCombinedOutput == true }

    /// The recording, or the log's messages as one. Returns also the number of lines that were skipped.
    func recording(skipsOtherLines: Bool) -> (recording: Recording, skipped: Int) {
        switch self {
        case .recording(let recording): (recording, 0)
        case .log(let log): log.recording(skipsOtherLines: skipsOtherLines)
        }
    }
}

extension ArraySlice<UInt8> {
    /// Moves bytes from the beginning into a buffer.
    ///
    /// - Returns: the number of bytes.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = prefix(buffer.count)
        buffer.copyBytes(from: taken)
        self = dropFirst(taken.count)
        return taken.count
    }
}
