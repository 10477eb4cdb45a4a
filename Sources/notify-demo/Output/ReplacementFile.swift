import Foundation
import Glibc
import SystemPackage

/// A file that is written next to its destination and replaces it when it is complete. Until then the destination is
/// unchanged.
///
/// If the destination's owner and permissions cannot be kept, or the destination cannot be replaced, for example
/// because its directory is not writable, the complete content is copied into it.
///
/// Threads: any, one at a time.
final class ReplacementFile {
    /// The path of the file until it replaces the destination.
    let path: String
    let descriptor: Int32
    /// True if the file stays at `path` because its content could not be moved to the destination.
    private(set) var isKept = false
    private let destination: String
    /// True if the file has the destination's owner and permissions, or there is no destination yet.
    private let hasAttributes: Bool
    private var isDone = false

    /// Creates an empty file next to the destination, or in the temporary directory if that is not possible.
    ///
    /// - Parameter destination: a writable regular file, or a path without a file. Not a symbolic link.
    /// - Throws: `Errno`.
    convenience init(_ destination: String) throws {
        if destination.isEmpty { throw Errno.noSuchFileOrDirectory }
        let existing = try Self.writableFile(destination)
        // The content may be secret. Other users cannot read it until the file has the destination's permissions.
        let permissions: UInt32 = existing == nil ? 0o644 : 0o600
        let directory = FilePath(destination).removingLastComponent()
        let made: (path: String, descriptor: Int32)
        do {
            made = try Self.make(in: directory, permissions)
        } catch {
            if existing == nil { throw error }
            let temporary = FileManager.default.temporaryDirectory.path(percentEncoded: false)
            made = try Self.make(in: FilePath(temporary), permissions)
        }
        self.init(path: made.path, descriptor: made.descriptor, replacing: destination, existing)
    }

    /// Uses an existing file without permissions for other users.
    /// - Throws: `Errno` if there is a destination that is not writable.
    convenience init(path: String, descriptor: Int32, replacing destination: String) throws {
        let existing = try Self.writableFile(destination)
        self.init(path: path, descriptor: descriptor, replacing: destination, existing)
    }

    private init(path: String, descriptor: Int32, replacing destination: String, _ existing: FileStatus?) {
        self.path = path
        self.descriptor = descriptor
        self.destination = destination
        hasAttributes = existing.map { Self.give(descriptor, the: $0) } ?? true
    }

    deinit { discard() }

    /// - Returns: the existing file, or nil if there is none.
    /// - Throws: `Errno` if there is a file that is not writable.
    private static func writableFile(_ path: String) throws -> FileStatus? {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Errno(rawValue: errno)
        }
        defer { _ = Glibc.close(descriptor) }
        return FileStatus(descriptor: descriptor)
    }

    private static func make(in directory: FilePath, _ permissions: UInt32) throws -> (String, Int32) {
        while true {
            let name = ".notify-demo-" + String(UInt32.random(in: .min ... .max), radix: 36)
            let path = directory.appending(name).string
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
            if descriptor >= 0 { return (path, descriptor) }
            guard errno == EEXIST || errno == EINTR else { throw Errno(rawValue: errno) }
        }
    }

    /// Gives a file the owner and permissions of another.
    /// - Returns: true if it has them.
    private static func give(_ descriptor: Int32, the attributes: FileStatus) -> Bool {
        guard let own = FileStatus(descriptor: descriptor) else { return false }
        if own.owner != attributes.owner || own.group != attributes.group {
            guard fchown(descriptor, attributes.owner, attributes.group) == 0 else { return false }
        }
        return fchmod(descriptor, attributes.permissions) == 0
    }

    /// Replaces the destination, or copies the content into it. In the latter case, `path` exists until `discard()`.
    ///
    /// - Returns: true if the file replaced the destination.
    /// - Throws: `Errno`. If `isKept`, the content is complete and stays at `path`.
    @discardableResult
    func replaceDestination() throws -> Bool {
        try reportDelayedErrors()
        do {
            if hasAttributes {
                if rename(path, destination) == 0 {
                    isDone = true
                    _ = Glibc.close(descriptor)
                    return true
                }
                let problem = Errno(rawValue: errno)
                guard FileStatus(path: destination) != nil else { throw problem }
            }
            let target = try FileDescriptor.open(
                FilePath(destination), .writeOnly, options: [.truncate, .closeOnExec, .noFollow])
            try target.closeAfter {
                try FileContent(descriptor: FileDescriptor(rawValue: descriptor)).write(to: target)
            }
            return false
        } catch {
            keep()
            throw error
        }
    }

    /// Closes a duplicate of the descriptor. Some file systems report write errors only on close.
    private func reportDelayedErrors() throws {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0, Glibc.close(duplicate) == 0 || errno == EINTR else { throw Errno(rawValue: errno) }
    }

    /// Closes the file and leaves it where it is.
    func keep() {
        isKept = true
        discard()
    }

    /// Closes and removes the file, unless it replaced the destination or is kept.
    func discard() {
        guard !isDone else { return }
        isDone = true
        _ = Glibc.close(descriptor)
        if !isKept { unlink(path) }
    }
}
