package import DeliveryRecording
internal import SystemPackage

/// Reads a log line by line, in constant memory.
///
/// Lines that begin with `#` are comments and are skipped. A byte order mark at the beginning and a carriage return at
/// the end of a line are ignored. A line longer than `longestLine` bytes is an error as soon as that many bytes were
/// read.
package struct LogReader {
    /// In bytes.
    package static let longestLine = 65_536

    /// The name of the log in errors and differences.
    package let name: String

    private let readChunk: (UnsafeMutableRawBufferPointer) throws -> Int
    private var unread: ArraySlice<UInt8> = []
    private var sourceEnded = false
    private var lineNumber = 0
    private var hasLine = false

    /// - Parameter readChunk: fills a part of the buffer and returns its size; 0 at the end.
    package init(name: String, readChunk: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.name = name
        self.readChunk = readChunk
    }

    /// Reads a file, or standard input for `-`.
    package init(path: String) throws(LogError) {
        if path == "-" {
            self.init(name: "standard input") { try FileDescriptor.standardInput.read(into: $0) }
            return
        }
        do {
            let file = try OpenFile(reading: path)
            self.init(name: path) { try file.descriptor.read(into: $0) }
        } catch {
            throw LogError(
                log: path.isEmpty ? "\"\"" : path, line: nil, problem: "cannot be opened: \(error).")
        }
    }

    /// Reads from memory.
    ///
    /// - Parameter chunk: the maximum number of bytes to return at a time.
    package init(name: String, bytes: [UInt8], chunk: Int = .max) {
        var rest = bytes[...]
        self.init(name: name) { buffer in
            let next = rest.prefix(min(chunk, buffer.count))
            buffer.copyBytes(from: next)
            rest = rest.dropFirst(next.count)
            return next.count
        }
    }

    /// The log's first byte, or nil if it is empty. Used to detect other formats.
    mutating func firstByte() throws(LogError) -> UInt8? {
        while unread.isEmpty, !sourceEnded { try readMore() }
        return unread.first
    }

    /// The next bytes that were not yet returned as lines; nil at the end.
    mutating func nextChunk() throws(LogError) -> ArraySlice<UInt8>? {
        guard try firstByte() != nil else { return nil }
        defer { unread = [] }
        return unread
    }

    /// The next line, or nil at the end.
    mutating func next() throws(LogError) -> ReadLine? {
        guard let (bytes, isComplete) = try nextBytesOfLog() else {
            guard hasLine else {
                throw LogError(
                    log: name, line: nil,
                    problem: "contains no log lines. Expected lines such as \"\(LogLine.example)\".")
            }
            return nil
        }
        hasLine = true
        do throws(LogLine.Problem) {
            return ReadLine(number: lineNumber, line: try LogLine(bytes), isComplete: isComplete)
        } catch {
            let truncation = isComplete ? "" : " The log ends within this line, so it may be truncated."
            let text = Excerpt.of(String(decoding: bytes, as: UTF8.self), length: 60)
            let found = error == .notText ? "" : ", found \"\(text)\""
            throw LogError(
                log: name, line: lineNumber,
                problem: "this is not a log line: \(error.description).\(truncation) Expected a line such as "
                    + "\"\(LogLine.example)\"\(found).")
        }
    }

    private mutating func nextBytesOfLog() throws(LogError) -> (bytes: ArraySlice<UInt8>, isComplete: Bool)? {
        while let (read, isComplete) = try nextBytes() {
            var bytes = read
            if lineNumber == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
            if bytes.last == UInt8(ascii: "\r") { bytes = bytes.dropLast() }
            if bytes.first != UInt8(ascii: "#") { return (bytes, isComplete) }
        }
        return nil
    }

    private mutating func nextBytes() throws(LogError) -> (bytes: ArraySlice<UInt8>, isComplete: Bool)? {
        var searched = 0
        while true {
            if let newline = unread.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
                guard newline - unread.startIndex <= Self.longestLine else { throw tooLong }
                defer { unread = unread[(newline + 1)...] }
                lineNumber += 1
                return (unread[..<newline], true)
            }
            searched = unread.count
            guard searched <= Self.longestLine else { throw tooLong }
            if sourceEnded {
                guard !unread.isEmpty else { return nil }
                defer { unread = [] }
                lineNumber += 1
                return (unread, false)
            }
            try readMore()
        }
    }

    private var tooLong: LogError {
        LogError(
            log: name, line: lineNumber + 1,
            problem:
                "this line is longer than \(Self.longestLine) bytes, so it is not a log line. Expected lines such as "
                + "\"\(LogLine.example)\".")
    }

    private mutating func readMore() throws(LogError) {
        do {
            let chunk = try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                count = try readChunk(UnsafeMutableRawBufferPointer(buffer))
            }
            sourceEnded = chunk.isEmpty
            // Copied, so that bytes that were already returned are released.
            unread = (unread + chunk)[...]
        } catch {
            throw LogError(log: name, line: nil, problem: "cannot be read: \(error).")
        }
    }

    /// A line and its number.
    struct ReadLine {
        var number: Int
        var line: LogLine
        /// True if the line ends with a newline.
        var isComplete: Bool
    }
}
