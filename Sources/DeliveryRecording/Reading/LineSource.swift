internal import Glibc
internal import SystemPackage

/// The lines of a file, read with a fixed amount of memory.
package struct LineSource {
    /// In bytes. A longer line is reported as `tooLong` as soon as that many bytes of it were read.
    package static let longestLine = 1 << 20

    package enum Line {
        /// - Parameter isWhole: true if a newline ends it.
        case text(UnsafeBufferPointer<UInt8>, isWhole: Bool)
        case tooLong
    }

    /// The path of the file, or `standard input`.
    package let name: String
    private var readChunk: (UnsafeMutableRawBufferPointer) throws -> Int

    /// - Parameter readChunk: fills a part of the buffer and returns the number of bytes, 0 at the end.
    package init(name: String, readChunk: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        (self.name, self.readChunk) = (name, readChunk)
    }

    package init(name: String, bytes: [UInt8]) {
        var rest = bytes[...]
        self.init(name: name) { rest.take(into: $0) }
    }

    /// Reads a file, or standard input for `-`.
    package init(path: String) throws(LogError) {
        name = path == "-" ? "standard input" : path.isEmpty ? "\"\"" : path
        do {
            let file = path == "-" ? nil : try OpenFile(reading: path)
            readChunk = { try (file?.descriptor ?? .standardInput).read(into: $0) }
        } catch {
            throw LogError(log: name, line: nil, problem: "cannot be opened: \(error).")
        }
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(LogError) -> Int {
        do {
            return try readChunk(buffer)
        } catch {
            throw LogError(log: name, line: nil, problem: "cannot be read: \(error).")
        }
    }

    /// All bytes.
    func bytes() throws(LogError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while case let count = try read(into: buffer), count > 0 { bytes += buffer.prefix(count) }
        return bytes
    }

    /// The text of a file, or of standard input for `-`.
    package static func text(path: String) throws(LogError) -> String {
        let source = try LineSource(path: path)
        guard let text = String(validating: try source.bytes(), as: UTF8.self) else {
            throw LogError(log: source.name, line: nil, problem: "is not UTF-8.")
        }
        return text
    }

    /// The first byte of the first chunk that is neither white space nor part of a byte order mark. The chunk is still
    /// read by `forEachLine`, also from a pipe.
    package mutating func firstByte() throws(LogError) -> UInt8? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
        defer { buffer.deallocate() }
        let beginning = Array(buffer.prefix(try read(into: buffer)))
        var unread = beginning[...]
        readChunk = { [readChunk] in unread.isEmpty ? try readChunk($0) : unread.take(into: $0) }
        return beginning.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    }

    /// - Parameter body: called with each line and its number, from 1. The bytes are valid until it returns.
    package func forEachLine(_ body: (Line, Int) throws(LogError) -> Void) throws(LogError) {
        let capacity = 2 * Self.longestLine
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: capacity)
        defer { buffer.deallocate() }
        var (start, end, searched) = (0, 0, 0)
        var number = 0
        var isPassingOver = false
        while true {
            while let newline = Self.newline(in: buffer, from: searched, to: end) {
                number += 1
                let line = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[start..<newline])
                let (isTooLong, wasReported) = (line.count > Self.longestLine, isPassingOver)
                isPassingOver = false
                (start, searched) = (newline + 1, newline + 1)
                if wasReported { continue }
                try body(isTooLong ? .tooLong : .text(line, isWhole: true), number)
            }
            if end - start > Self.longestLine {
                if !isPassingOver { try body(.tooLong, number + 1) }
                isPassingOver = true
                start = end
            }
            if start > 0 {
                buffer.baseAddress?.update(from: buffer.baseAddress! + start, count: end - start)
                (start, end) = (0, end - start)
            }
            searched = end
            let read = try read(
                into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[end...]))
            if read == 0 { break }
            end += read
        }
        guard !isPassingOver, end > start else { return }
        let rest = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[start..<end])
        try body(.text(rest, isWhole: false), number + 1)
    }

    private static func newline(in buffer: UnsafeMutableBufferPointer<UInt8>, from start: Int, to end: Int) -> Int? {
        guard let base = buffer.baseAddress, let found = memchr(base + start, 0x0A, end - start) else { return nil }
        return found - UnsafeMutableRawPointer(base)
    }
}

extension ArraySlice<UInt8> {
    /// Moves bytes from the beginning into a buffer.
    ///
    /// - Returns: the number of bytes.
    fileprivate mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = prefix(buffer.count)
        buffer.copyBytes(from: taken)
        self = dropFirst(taken.count)
        return taken.count
    }
}

/// A file that is open for reading. Closed when the last reference is released.
private final class OpenFile {
    let descriptor: FileDescriptor

    init(reading path: String) throws {
        descriptor = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    }

    deinit { try? descriptor.close() }
}
