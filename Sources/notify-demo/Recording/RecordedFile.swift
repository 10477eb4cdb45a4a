import DeliveryRecording
import Foundation
import SystemPackage

/// The recording of one process. It is examined, locked and read by its descriptor, so that all of this concerns the
/// same file.
struct RecordedFile {
    private(set) var path: FilePath
    private let descriptor: FileDescriptor

    init(_ path: FilePath, _ mode: FileDescriptor.AccessMode, options: FileDescriptor.OpenOptions) throws {
        self.path = path
        descriptor = try FileDescriptor.open(path, mode, options: options, permissions: .ownerReadWrite)
    }

    func close() { try? descriptor.close() }

    func moved(to directory: FilePath) -> RecordedFile {
        var moved = self
        if let name = path.lastComponent { moved.path = directory.appending(name) }
        return moved
    }

    /// Opens the files in a directory whose names begin like a file's, and end with a process id. The program may have
    /// put other files there.
    static func others(than name: String, in directory: FilePath) -> [RecordedFile] {
        names(in: directory).compactMap { other in
            guard other.hasPrefix("\(name)."), let process = UInt64(other.dropFirst(name.count + 1)),
                let file = try? RecordedFile(
                    directory.appending(other), .readOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
            else { return nil }
            if file.isRecording(of: process) { return file }
            file.close()
            return nil
        }
    }

    static func names(in directory: FilePath) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []).sorted()
    }

    /// The first line of a recording has the id of its process.
    private func isRecording(of process: UInt64) -> Bool {
        let header = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = (try? descriptor.read(fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
        }.prefix { $0 != UInt8(ascii: "\n") }
        return (try? descriptor.stat())?.type == .regular
            && header.withUnsafeBufferPointer(Recording.process(ofHeader:)) == process
    }

    /// True if the process has ended. Then no other process can record to the file until it is closed.
    func hasEnded() -> Bool { flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 }

    /// Why the file, which is empty, cannot take the first records, such as a full disk; nil if it can.
    func problemWriting() -> String? {
        defer { ftruncate(descriptor.rawValue, 0) }
        do throws(Errno) {
            try descriptor.reserve(4096)
            return nil
        } catch {
            return "\(error), in \(path.removingLastComponent().removingLastComponent())"
        }
    }

    /// Reads the file in parts of at least a line, about 1 MiB each. The last line may be truncated. Leaves out the NUL
    /// bytes that are room for more records.
    func forEachLines(_ take: ([UInt8]) throws -> Void) throws {
        var lines: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while case let count = try buffer.withUnsafeMutableBytes({ bytes in
            try descriptor.read(fromAbsoluteOffset: offset, into: bytes)
        }), count > 0 {
            offset += Int64(count)
            guard let newline = buffer[..<count].lastIndex(of: UInt8(ascii: "\n")) else {
                lines += buffer[..<count]
                continue
            }
            lines += buffer[...newline]
            try take(Self.withoutRoom(lines))
            lines = Array(buffer[newline + 1..<count])
        }
        lines = Self.withoutRoom(lines)
        if lines.isEmpty || lines == [0] { return }
        // A NUL byte at the end means that the process died within the line.
        try take(lines.last == 0 ? lines + [UInt8(ascii: "\n")] : lines)
    }

    /// The lines with one NUL byte in place of several.
    private static func withoutRoom(_ lines: [UInt8]) -> [UInt8] {
        lines.withUnsafeBytes { bytes in
            var (kept, start): ([UInt8], Int) = ([], 0)
            while start < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
                guard let base = rest.baseAddress, let nul = memchr(base, 0, rest.count) else {
                    return start == 0 ? lines : kept + rest
                }
                let length = UnsafeRawPointer(nul) - base + 1
                kept += rest.prefix(length)
                start += length
                while start < bytes.count, bytes[start] == 0 { start += 1 }
            }
            return kept
        }
    }
}
