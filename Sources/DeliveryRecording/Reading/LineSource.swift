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

    private let readChunk: (UnsafeMutableRawBufferPointer) throws -> Int

    /// - Parameter readChunk: fills a part of the buffer and returns the number of bytes, 0 at the end.
    package init(readChunk: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.readChunk = readChunk
    }

    /// Reads a file, or standard input for `-`.
    init(path: String) throws {
        if path == "-" {
            self.init { try FileDescriptor.standardInput.read(into: $0) }
            return
        }
        let file = try OpenFile(reading: path)
        self.init { try file.descriptor.read(into: $0) }
    }

    /// - Parameter body: called with each line and its number, from 1. The bytes are valid until it returns. It returns
    ///   false to stop.
    package func forEachLine(_ body: (Line, Int) throws -> Bool) throws {
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
                guard try body(isTooLong ? .tooLong : .text(line, isWhole: true), number) else { return }
            }
            if end - start > Self.longestLine {
                if !isPassingOver, try !body(.tooLong, number + 1) { return }
                isPassingOver = true
                start = end
            }
            if start > 0 {
                buffer.baseAddress?.update(from: buffer.baseAddress! + start, count: end - start)
                (start, end) = (0, end - start)
            }
            searched = end
            let read = try readChunk(
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[end...]))
            if read == 0 { break }
            end += read
        }
        guard !isPassingOver, end > start else { return }
        let rest = UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[start..<end])
        _ = try body(.text(rest, isWhole: false), number + 1)
    }

    private static func newline(in buffer: UnsafeMutableBufferPointer<UInt8>, from start: Int, to end: Int) -> Int? {
        guard let base = buffer.baseAddress, let newline = memchr(base + start, 0x0A, end - start) else { return nil }
        return newline - UnsafeMutableRawPointer(base)
    }
}
