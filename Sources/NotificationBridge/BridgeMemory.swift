internal import DistributedNotifications
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The state that a bridge keeps when it ends: its number, and how far it has read its stream. A file of a few words,
/// written whole; a bridge that is killed before the last write posts some notifications twice, which their observers
/// notice.
struct BridgeMemory {
    /// Chosen at random by the first bridge with this file.
    let bridge: UInt64
    private let path: String
    private var stream: String?
    private var position = StreamPosition(created: "", last: 0)
    private let file: FileHandle

    /// - Throws: `.pathNotUsable`.
    init(directory: String) throws(DistributedError) {
        path = "\(directory)/state"
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            }
            file = try FileHandle(forUpdating: URL(filePath: path))
            if let problem = Self.lock(file) { throw DistributedError.pathNotUsable(path: path, problem: problem) }
            let words = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
                .split(whereSeparator: \.isWhitespace)
            // The number has all its digits, or the end of the file is lost.
            if words.count == 4, words[3].utf8.count == 20, let known = UInt64(words[0], radix: 16),
                let number = UInt64(words[3])
            {
                (bridge, stream) = (known, String(words[1]))
                position = StreamPosition(created: String(words[2]), last: number)
            } else {
                bridge = .random(in: .min ... .max)
            }
        } catch let error as DistributedError {
            throw error
        } catch {
            throw .pathNotUsable(
                path: path, problem: "the bridge cannot keep its state there: \(error.localizedDescription)")
        }
    }

    /// Locks the file until this process ends: two bridges with one number would ignore what the other publishes. Waits
    /// a little for one that is ending.
    /// - Returns: why it is not locked.
    private static func lock(_ file: FileHandle) -> String? {
        let deadline = SuspendingClock.Instant.after(LocalThread.refusalTimeout)
        var lock = flock()
        while true {
            (lock.l_type, lock.l_whence) = (Int16(F_WRLCK), Int16(SEEK_SET))
            if fcntl(file.fileDescriptor, F_SETLK, &lock) == 0 { return nil }
            let error = errno
            guard [EACCES, EAGAIN, EINTR].contains(error) else { return SystemError.text(error) }
            if .now >= deadline { break }
            usleep(20_000)
        }
        _ = fcntl(file.fileDescriptor, F_GETLK, &lock)
        return "the bridge of process \(lock.l_pid) has locked it, and only one may be. End that one, or give another "
            + "directory: --state"
    }

    /// Of the last message of a stream that was posted; nil if it never read that stream.
    func position(in stream: String) -> StreamPosition? { stream == self.stream ? position : nil }

    mutating func setPosition(_ position: StreamPosition, in stream: String) throws(DistributedError) {
        (self.stream, self.position) = (stream, position)
        // Always of the same length, so that one write replaces it.
        let digits = "\(position.last)"
        let number = String(repeating: "0", count: 20 - digits.count) + digits
        let text = "\(String(bridge, radix: 16)) \(stream) \(position.created) \(number)\n"
        do {
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data(text.utf8))
            try file.truncate(atOffset: UInt64(text.utf8.count))
        } catch {
            throw .pathNotUsable(
                path: path, problem: "the bridge cannot write its state: \(error.localizedDescription)")
        }
    }
}
