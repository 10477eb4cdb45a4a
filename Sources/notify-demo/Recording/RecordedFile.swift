import DeliveryRecording
import Foundation
import SystemPackage

/// The open recording of one process. It is examined, locked and read by its descriptor, so that all of this concerns
/// the same file.
struct RecordedFile {
    let path: FilePath
    let descriptor: FileDescriptor

    /// Locks the file until its descriptor is closed.
    ///
    /// - Returns: false if a process is still recording to it.
    func lock() -> Bool { flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 }

    /// Appends the content to a recording.
    ///
    /// - Throws: `Errno`. A part may have been appended.
    func append(to recording: FileDescriptor) throws {
        let end = try recording.seek(offset: 0, from: .end)
        // The last line of the previous process may be truncated.
        if end > 0, try recording.bytes(at: end - 1, count: 1) != [0x0A] { try recording.writeAll([0x0A]) }
        try descriptor.copyContent(to: recording)
    }

    /// The files of other processes that recorded under a name. The caller closes their descriptors.
    static func others(of path: FilePath) -> [RecordedFile] {
        let directory = path.removingLastComponent()
        let prefix = (path.lastComponent?.string ?? "") + "."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
            let process = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false).last
            return process.flatMap { UInt64($0) }.flatMap { opened(directory.appending(name), of: $0) }
        }
    }

    /// Opens a file. Nil if it is not a recording that the process began.
    private static func opened(_ path: FilePath, of process: UInt64) -> RecordedFile? {
        guard
            let descriptor = try? FileDescriptor.open(
                path, .readOnly, options: [.closeOnExec, .nonBlocking, .noFollow])
        else { return nil }
        // The id of the process is in the first line of a recording.
        let header = try? descriptor.bytes(at: 0, count: 4096).prefix { $0 != 0x0A }
        let recorder = header.flatMap { header in header.withUnsafeBufferPointer { Recording.process(ofHeader: $0) } }
        guard FileStatus(descriptor: descriptor.rawValue)?.isRegular == true, recorder == process else {
            try? descriptor.close()
            return nil
        }
        return RecordedFile(path: path, descriptor: descriptor)
    }
}

extension FileDescriptor {
    fileprivate func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let count = try bytes.withUnsafeMutableBytes { try read(fromAbsoluteOffset: offset, into: $0) }
        return Array(bytes.prefix(count))
    }
}
