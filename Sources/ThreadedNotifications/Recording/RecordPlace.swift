internal import CLinux
internal import Foundation
internal import Glibc

/// A file that was opened to record to, from a place on. It has to be closed.
final class RecordPlace: Sendable {
    let path: String
    /// The same from whichever directory the process, or its copy, is in later.
    let absolutePath: String
    let descriptor: Int32
    /// Where the first record goes.
    let offset: Int

    enum Existing {
        /// What the file has is thrown away.
        case isReplaced
        /// It is kept, and this process's records come after it; or, if another process records there, in a file of the same
        /// name and this process's id. A file that is neither empty nor a recording is refused.
        case isContinued
    }

    /// - Parameter followsLink: whether the path may be a symbolic link. A name that a process makes of another and its
    ///   id may not: others can foresee it.
    init(_ path: String, _ existing: Existing, followsLink: Bool = true) throws(DeliveryError) {
        var (path, descriptor) = (path, try Self.open(path, followsLink: followsLink))
        var isReplaced = existing == .isReplaced
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            _ = Glibc.close(descriptor)
            guard !isReplaced else {
                throw .recordingFailed(path: path, problem: "another process records to it")
            }
            path += ".\(getpid())"
            descriptor = try Self.open(path, followsLink: false)
            // Kept: what is there may be of this process before it became another program.
            isReplaced = false
            _ = flock(descriptor, LOCK_EX | LOCK_NB)
        }
        if isReplaced, ftruncate(descriptor, 0) != 0 { throw Self.failure(path, closing: descriptor) }
        var end = lseek(descriptor, 0, SEEK_END)
        if end < 0 { throw Self.failure(path, closing: descriptor) }
        if end > 0 {
            guard Self.isRecording(descriptor) else {
                _ = Glibc.close(descriptor)
                throw .recordingFailed(path: path, problem: "it is not a recording, and not empty")
            }
            // The process before may have been killed while it wrote a line. A line of its own keeps the header whole.
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

    /// Whether a file begins as a recording does.
    private static func isRecording(_ descriptor: Int32) -> Bool {
        RecordingHeader.beginning.withUTF8Buffer { bytes(of: descriptor, at: 0, count: $0.count) == Array($0) }
    }

    private static func bytes(of descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            length = max(0, pread(descriptor, buffer.baseAddress, count, offset))
        }
    }

    /// Once: the system gives the number to the next file.
    func close() {
        _ = Glibc.close(descriptor)
    }

    /// What is behind an offset goes.
    func truncate(to offset: Int) {
        _ = ftruncate(descriptor, offset)
    }

    private static func open(_ path: String, followsLink: Bool) throws(DeliveryError) -> Int32 {
        // Without waiting for the reader of a FIFO, which is refused below. A new file is its owner's only: it tells of
        // the program.
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
