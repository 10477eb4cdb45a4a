internal import Foundation
internal import Glibc
internal import SystemPackage

/// A file that is written beside another and takes its place when it is complete. Until then the other is unchanged.
///
/// If the other's owner and permissions cannot be kept, or the other cannot be replaced, for example because its
/// directory may not be written, the complete content is copied into it.
///
/// Threads: any, one at a time.
package final class ReplacementFile {
    /// Where it is until it takes the other's place.
    package let path: String
    package let descriptor: Int32
    /// Whether the file stays at `path`, because its content could not be put in the destination.
    package private(set) var isKept = false
    private let destination: String
    /// Whether the file has the destination's owner and permissions, or there is no destination yet.
    private let hasAttributes: Bool
    private var isDone = false

    /// Makes an empty file beside the destination, or in the temporary directory if that is not possible.
    ///
    /// - Parameter destination: a regular file that may be written, or nothing yet; no symbolic link.
    /// - Throws: `Errno`.
    package convenience init(_ destination: String) throws {
        if destination.isEmpty { throw Errno.noSuchFileOrDirectory }
        let existing = try Self.writableFile(destination)
        // The content may be secret: nobody else reads it before the file has the permissions of the one that was there.
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

    /// Uses a file that was made before, with no permissions for others.
    /// - Throws: `Errno`, if there is a destination that may not be written.
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

    /// - Returns: the file that is there, or nil.
    /// - Throws: `Errno`, if there is one that may not be written.
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
    /// - Returns: whether it has them.
    private static func give(_ descriptor: Int32, the attributes: FileStatus) -> Bool {
        guard let own = FileStatus(descriptor: descriptor) else { return false }
        if own.owner != attributes.owner || own.group != attributes.group {
            guard fchown(descriptor, attributes.owner, attributes.group) == 0 else { return false }
        }
        return fchmod(descriptor, attributes.permissions) == 0
    }

    /// Takes the destination's place, or is copied into it. In the latter case, `path` exists until `discard()`.
    ///
    /// - Returns: whether it took the destination's place.
    /// - Throws: `Errno`. If `isKept`, the content is complete, and stays at `path`.
    @discardableResult
    package func place() throws -> Bool {
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

    /// Closes a duplicate of the descriptor: some file systems report then that what was written could not be stored.
    private func reportDelayedErrors() throws {
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0, Glibc.close(duplicate) == 0 || errno == EINTR else { throw Errno(rawValue: errno) }
    }

    /// Leaves the file where it is.
    package func keep() {
        isKept = true
        discard()
    }

    /// Removes the file, unless it took the destination's place or is kept.
    package func discard() {
        guard !isDone else { return }
        isDone = true
        _ = Glibc.close(descriptor)
        if !isKept { unlink(path) }
    }
}
