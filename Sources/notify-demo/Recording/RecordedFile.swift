import DeliveryRecording
import Foundation
import Glibc
import SystemPackage
import ThreadedNotifications

/// The open recording of one process. It is examined, locked and read by its descriptor, so that all of this concerns
/// the same file.
struct RecordedFile {
    let path: String
    let descriptor: FileDescriptor

    /// Locks the file until its descriptor is closed.
    /// - Returns: false if a process is still recording to it.
    func lock() -> Bool { flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 }

    /// Appends the content to a recording.
    /// - Throws: `Errno`. A part may have been appended.
    func append(to recording: FileDescriptor) throws {
        let end = try recording.seek(offset: 0, from: .end)
        // The last line of the previous process may be truncated.
        if end > 0 {
            var last: [UInt8] = [0]
            _ = try last.withUnsafeMutableBytes { try recording.read(fromAbsoluteOffset: end - 1, into: $0) }
            if last != [0x0A] { try recording.writeAll([0x0A]) }
        }
        try FileContent(descriptor: descriptor).write(to: recording)
    }

    /// The files of other processes that recorded under a name. The caller closes their descriptors.
    static func others(of path: String) -> [RecordedFile] {
        let directory = FilePath(path).removingLastComponent()
        let prefix = (FilePath(path).lastComponent?.string ?? "") + "."
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
            let process = name.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false).last
            return process.flatMap { UInt64($0) }.flatMap { RecordedFile(directory.appending(name).string, of: $0) }
        }
    }

    init(path: String, descriptor: FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens a file. Nil if it is not a recording that the process began.
    private init?(_ path: String, of process: UInt64) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        self.init(path: path, descriptor: FileDescriptor(rawValue: descriptor))
        guard FileStatus(descriptor: descriptor)?.isRegular == true, recorder == process else {
            try? self.descriptor.close()
            return nil
        }
    }

    /// The id of the process that began the recording, from its first line; nil if the file is not a recording.
    private var recorder: UInt64? {
        let beginning = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, pread(descriptor.rawValue, buffer.baseAddress, 4096, 0))
        }
        guard let end = beginning.firstIndex(of: 0x0A) else { return nil }
        return beginning[..<end].withUnsafeBufferPointer { Recording.process(ofHeader: $0) }
    }
}
