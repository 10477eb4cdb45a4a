internal import CLinux
internal import Foundation
internal import Glibc

/// An open file that records are written to. The owner has to close it.
final class RecordDestination: Sendable {
    let path: String
    /// The path at the time of opening; the process may change its directory later.
    let absolutePath: String
    let descriptor: Int32
    /// The offset of the first record in the file.
    let offset: Int

    /// The treatment of a file that exists.
    enum ExistingFile {
        /// The content of the file is deleted.
        case replace
        /// Records are appended. If another process records to the file, they go to a file of the same name with this
        /// process's id. A file that is neither empty nor a recording is refused.
        case append
    }

    /// - Parameter followsLink: whether the path may be a symbolic link. It must not be one if this process has
    ///   composed it of another path and its id, because other users can predict such a path.
    init(_ path: String, _ existing: ExistingFile, followsLink: Bool = true) throws(DeliveryError) {
        var (path, descriptor) = (path, try Self.open(path, followsLink: followsLink))
        var replaces = existing == .replace
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            _ = Glibc.close(descriptor)
            guard !replaces else {
                throw .recordingFailed(path: path, problem: "another process records to it")
            }
            path += ".\(getpid())"
            descriptor = try Self.open(path, followsLink: false)
            // Not replaced: this process may have recorded to it before it executed another program.
            replaces = false
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
        }
        if replaces, ftruncate(descriptor, 0) != 0 { throw Self.failure(path, closing: descriptor) }
        var end = lseek(descriptor, 0, SEEK_END)
        if end < 0 { throw Self.failure(path, closing: descriptor) }
        if end > 0 {
            guard Self.isRecording(descriptor) else {
                _ = Glibc.close(descriptor)
                throw .recordingFailed(path: path, problem: "it is not a recording, and not empty")
            }
            // The previous process may have been killed while it wrote a line, so the header begins a new line.
            if Self.bytes(of: descriptor, at: end - 1, count: 1) != [0x0A] {
                guard pwrite(descriptor, "\n", 1, end) == 1 else { throw Self.failure(path, closing: descriptor) }
                end += 1
            }
        }
        self.path = path
        absolutePath = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        self.descriptor = descriptor
        offset = end
    }

    /// True if a file begins as a recording does.
    private static func isRecording(_ descriptor: Int32) -> Bool {
        RecordingHeader.beginning.withUTF8Buffer { bytes(of: descriptor, at: 0, count: $0.count) == Array($0) }
    }

    private static func bytes(of descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            length = max(0, pread(descriptor, buffer.baseAddress, count, offset))
        }
    }

    /// To be called once, because the system reuses the descriptor.
    func close() {
        _ = Glibc.close(descriptor)
    }

    /// Deletes the content from an offset on.
    func truncate(to offset: Int) {
        _ = ftruncate(descriptor, offset)
    }

    private static func open(_ path: String, followsLink: Bool) throws(DeliveryError) -> Int32 {
        // O_NONBLOCK: does not wait for the reader of a FIFO, which is refused below. A new file is accessible to its
        // owner only, because a recording may contain private data.
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW)
        let descriptor = Glibc.open(path, flags, 0o600)
        guard descriptor >= 0 else { throw failure(path, closing: nil) }
        guard CLinuxIsRegularFile(descriptor) else {
            _ = Glibc.close(descriptor)
            throw .recordingFailed(path: path, problem: "it is no regular file")
        }
        return descriptor
    }

    private static func failure(_ path: String, closing descriptor: Int32?) -> DeliveryError {
        let problem = String(cString: strerror(errno))
        if let descriptor { _ = Glibc.close(descriptor) }
        return .recordingFailed(path: path, problem: problem)
    }
}
