import Foundation

/// The file that one process recorded to, as it was when it was examined. It is open only while it is read, because a
/// program may have thousands of processes.
struct RecordedFile {
    let path: String
    /// True if the process has ended.
    let hasEnded: Bool
    private(set) var isEmpty = true
    /// The addresses of calls.
    private(set) var calls: Set<String> = []
    /// The end of the part that was examined, without most of the room that follows it.
    private var end: UInt64

    init(_ path: String) throws {
        self.path = path
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        // A process that records has a lock.
        hasEnded = flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0
        end = try file.seekToEnd()
        let room = Data(count: 4096)
        while end >= room.count {
            try file.seek(toOffset: end - UInt64(room.count))
            guard try file.read(upToCount: room.count) == room else { break }
            end -= UInt64(room.count)
        }
        try forEachLines { lines in
            isEmpty = false
            calls.formUnion(RecordedCalls.addresses(in: lines))
        }
    }

    /// Reads what was examined in parts of at least a line, about 1 MiB each. The last line may be truncated. NUL bytes
    /// at the end are room for more records.
    func forEachLines(_ take: ([UInt8]) throws -> Void) throws {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        var (lines, rest) = ([UInt8](), Int(end))
        while rest > 0, let part = try file.read(upToCount: min(rest, 1 << 20)), !part.isEmpty {
            rest -= part.count
            lines += part
            guard let newline = lines.lastIndex(of: UInt8(ascii: "\n")) else { continue }
            try take(Array(lines[...newline]))
            lines.removeFirst(newline + 1)
        }
        if let last = lines.lastIndex(where: { $0 != 0 }) { try take(Array(lines[...last])) }
    }
}
