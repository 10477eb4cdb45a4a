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
    let descriptor: FileDescriptor
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
        let isNew = FileStatus(path: destination) == nil
        let directories = [FilePath(destination).removingLastComponent()] + (isNew ? [] : [.temporaryDirectory])
        var failure: (any Error)?
        for directory in directories {
            let name = ".notify-demo-" + String(UInt64.random(in: .min ... .max), radix: 36)
            let path = directory.appending(name)
            do {
                let descriptor = try FileDescriptor.open(
                    path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                    // The content may be secret. Other users cannot read it until the file has the destination's
                    // permissions.
                    permissions: isNew ? [.ownerReadWrite, .groupRead, .otherRead] : .ownerReadWrite)
                try self.init(path: path.string, descriptor: descriptor, replacing: destination)
                return
            } catch {
                unlink(path.string)
                failure = failure ?? error
            }
        }
        throw failure ?? Errno.noSuchFileOrDirectory
    }

    /// Takes an open file without permissions for other users.
    ///
    /// - Throws: `Errno` if there is a destination that is not writable. The file is closed.
    init(path: String, descriptor: FileDescriptor, replacing destination: String) throws {
        (self.path, self.descriptor, self.destination) = (path, descriptor, destination)
        do {
            let existing = try FileDescriptor.open(
                FilePath(destination), .writeOnly, options: [.closeOnExec, .nonBlocking])
            defer { try? existing.close() }
            hasAttributes = FileStatus(descriptor: existing.rawValue).map { Self.give(descriptor, the: $0) } ?? false
        } catch Errno.noSuchFileOrDirectory {
            hasAttributes = true
        } catch {
            try? descriptor.close()
            throw error
        }
    }

    deinit { discard() }

    /// Gives a file the owner and permissions of another.
    ///
    /// - Returns: true if it has them.
    private static func give(_ descriptor: FileDescriptor, the attributes: FileStatus) -> Bool {
        guard let own = FileStatus(descriptor: descriptor.rawValue) else { return false }
        if own.owner != attributes.owner || own.group != attributes.group {
            guard fchown(descriptor.rawValue, attributes.owner, attributes.group) == 0 else { return false }
        }
        return fchmod(descriptor.rawValue, attributes.permissions) == 0
    }

    /// Replaces the destination, or copies the content into it. In the latter case, `path` exists until `discard()`.
    ///
    /// - Returns: true if the file replaced the destination.
    /// - Throws: `Errno`. If `isKept`, the content is complete and stays at `path`.
    @discardableResult
    func replaceDestination() throws -> Bool {
        // Some file systems report write errors only on close.
        try descriptor.duplicate().close()
        do {
            if hasAttributes {
                if rename(path, destination) == 0 {
                    isDone = true
                    try? descriptor.close()
                    return true
                }
                let problem = Errno(rawValue: errno)
                guard FileStatus(path: destination) != nil else { throw problem }
            }
            let target = try FileDescriptor.open(
                FilePath(destination), .writeOnly, options: [.truncate, .closeOnExec, .noFollow])
            try target.closeAfter { try descriptor.copyContent(to: target) }
            return false
        } catch {
            keep()
            throw error
        }
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
        try? descriptor.close()
        if !isKept { unlink(path) }
    }
}

extension FilePath {
    static var temporaryDirectory: FilePath {
        FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
    }
}
