import DeliveryRecording
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
    /// How often each address occurs.
    private(set) var calls: [CallAddress: Int] = [:]
    /// The end of the part that was examined.
    private var end: Int64 = 0

    init(_ path: FilePath) throws {
        self.path = path
        let file = try Self.open(path)
        defer { try? file.close() }
        // A process that records has a lock.
        hasEnded = flock(file.rawValue, LOCK_EX | LOCK_NB) == 0
        end = Int64(try file.stat().size)
        try forEachLines(of: file) { lines in
            size += lines.count
            calls.merge(RecordedCalls.addresses(in: lines)) { $0 + $1 }
        }
    }

    private static func open(_ path: FilePath) throws -> FileDescriptor {
        try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
    }

    /// The files beside a file whose names begin like its name and end with the id of the process that their first lines
    /// name. The program may have put other files there.
    static func others(than first: FilePath) -> [FilePath] {
        let (directory, name) = (first.removingLastComponent(), first.lastComponent?.string ?? "")
        return names(in: directory).filter { other in
            guard other.hasPrefix("\(name)."), let process = UInt64(other.dropFirst(name.utf8.count + 1)),
                let file = try? open(directory.appending(other))
            else { return false }
            defer { try? file.close() }
            let header = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = (try? file.read(fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
            }.prefix { $0 != UInt8(ascii: "\n") }
            return (try? file.stat())?.type == .regular
                && header.withUnsafeBufferPointer(Recording.process(ofHeader:)) == process
        }.map { directory.appending($0) }
    }

    static func names(in directory: FilePath) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []).sorted()
    }

    /// Why an empty file cannot take the first records, such as a full disk; nil if it can.
    static func problemWriting(_ path: FilePath) -> String? {
        do {
            let file = try FileDescriptor.open(path, .writeOnly)
            defer {
                ftruncate(file.rawValue, 0)
                try? file.close()
            }
            try file.reserve(4096)
            return nil
        } catch {
            return "\(error), in \(path.removingLastComponent().removingLastComponent())"
        }
    }

    /// Reads what was examined in parts of at least a line, about 1 MiB each. The last line may be truncated. Leaves
    /// out the NUL bytes that are room for more records.
    func forEachLines(_ take: ([UInt8]) throws -> Void) throws {
        let file = try Self.open(path)
        defer { try? file.close() }
        try forEachLines(of: file, take)
    }

    private func forEachLines(of file: FileDescriptor, _ take: ([UInt8]) throws -> Void) throws {
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
        // A NUL byte at the end means that the process died within the line.
        try take(lines.last == 0 ? lines + [UInt8(ascii: "\n")] : lines)
    }

    /// The lines with one NUL byte in place of several.
    private static func withoutRoom(_ lines: [UInt8]) -> [UInt8] {
        lines.withUnsafeBytes { bytes in
            var kept: [UInt8] = []
            var rest = bytes[...]
            while let nul = rest.first.flatMap({ _ in memchr(bytes.baseAddress! + rest.startIndex, 0, rest.count) }) {
                let room = UnsafeRawPointer(nul) - bytes.baseAddress!
                kept += rest[...room]
                rest = rest[(room + 1)...]
                // Most room is at the end of a file. A function of the C library compares it with itself.
                if rest.count > 0, rest.first == 0,
                    memcmp(bytes.baseAddress! + room, bytes.baseAddress! + room + 1, rest.count) == 0
                {
                    return kept
                }
                rest = rest.drop { $0 == 0 }
            }
            return kept + rest
        }
    }
}
