import Foundation
import SystemPackage

/// The file that one process recorded to, as it was when it was examined. It is open only while it is read, because a
/// program may have thousands of processes.
struct RecordedFile {
    let path: FilePath
    /// True if the process has ended.
    let hasEnded: Bool
    /// The number of bytes of lines.
    private(set) var size = 0
    /// The addresses of calls.
    private(set) var calls: Set<String> = []
    /// The end of the part that was examined.
    private let end: Int64

    init(_ path: FilePath) throws {
        self.path = path
        let file = try Self.open(path)
        defer { try? file.close() }
        // A process that records has a lock.
        hasEnded = flock(file.rawValue, LOCK_EX | LOCK_NB) == 0
        end = Int64(try file.stat().size)
        try forEachLines { lines in
            size += lines.count
            calls.formUnion(RecordedCalls.addresses(in: lines))
        }
    }

    private static func open(_ path: FilePath) throws -> FileDescriptor {
        try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
    }

    /// Reads what was examined in parts of at least a line, about 1 MiB each. The last line may be truncated. NUL bytes
    /// are room for more records, or a record that the process was writing when it died; one of several is kept.
    func forEachLines(_ take: ([UInt8]) throws -> Void) throws {
        let file = try Self.open(path)
        defer { try? file.close() }
        var lines: [UInt8] = []
        var offset: Int64 = 0
        while offset < end {
            let part = try [UInt8](unsafeUninitializedCapacity: Int(min(end - offset, 1 << 20))) { bytes, count in
                count = try file.read(fromAbsoluteOffset: offset, into: UnsafeMutableRawBufferPointer(bytes))
            }
            if part.isEmpty { break }
            offset += Int64(part.count)
            lines += Self.withoutRoom(part)
            guard let newline = lines.lastIndex(of: UInt8(ascii: "\n")) else { continue }
            try take(Array(lines[...newline]))
            lines.removeFirst(newline + 1)
        }
        if lines.allSatisfy({ $0 == 0 }) { return }
        try take(lines.last == 0 ? lines + [UInt8(ascii: "\n")] : lines)
    }

    private static func withoutRoom(_ part: [UInt8]) -> [UInt8] {
        part.withUnsafeBytes { bytes in
            var kept: [UInt8] = []
            var rest = bytes[...]
            while let base = bytes.baseAddress, let nul = memchr(base + rest.startIndex, 0, rest.count) {
                let room = UnsafeRawPointer(nul) - base
                kept += rest[...room]
                // Most room is at the end of a file. A function of the C library compares it with itself.
                if memcmp(base + room, base + room + 1, bytes.count - room - 1) == 0 { return kept }
                rest = rest[room...].drop { $0 == 0 }
            }
            return kept + rest
        }
    }
}
