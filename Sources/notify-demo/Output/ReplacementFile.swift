import Foundation
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

    /// Creates an empty file next to the destination, or in the temporary directory if that is not possible.
    ///
    /// - Parameter destination: a writable regular file, or a path without a file. Not a symbolic link.
    /// - Throws: `Errno`.
    init(_ destination: String) throws {
        if destination.isEmpty { throw Errno.noSuchFileOrDirectory }
        self.destination = destination
        var existing: FileDescriptor?
        do {
            existing = try FileDescriptor.open(
                FilePath(destination), .writeOnly, options: [.closeOnExec, .nonBlocking])
        } catch Errno.noSuchFileOrDirectory {}
        defer { try? existing?.close() }
        let name = ".notify-demo-" + String(UInt64.random(in: .min ... .max), radix: 36)
        func create(in directory: FilePath) throws -> (String, FileDescriptor) {
            let path = directory.appending(name)
            let descriptor = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                // The content may be secret. Other users cannot read it until the file has the destination's permissions.
                permissions: existing == nil ? [.ownerReadWrite, .groupRead, .otherRead] : .ownerReadWrite)
            return (path.string, descriptor)
        }
        do {
            (path, descriptor) = try create(in: FilePath(destination).removingLastComponent())
        } catch {
            guard existing != nil, let file = try? create(in: .temporaryDirectory) else { throw error }
            (path, descriptor) = file
        }
        hasAttributes = existing.map { [descriptor] in Self.copyAttributes(of: $0, to: descriptor) } ?? true
    }

    deinit {
        try? descriptor.close()
        // No file is left at the path if it was renamed.
        if !isKept { unlink(path) }
    }

    /// Gives a file the owner and permissions of another.
    ///
    /// - Returns: true if it has them.
    private static func copyAttributes(of existing: FileDescriptor, to file: FileDescriptor) -> Bool {
        guard let given = try? existing.stat(), let own = try? file.stat() else { return false }
        if own.userID != given.userID || own.groupID != given.groupID {
            guard fchown(file.rawValue, given.userID.rawValue, given.groupID.rawValue) == 0 else { return false }
        }
        return fchmod(file.rawValue, given.permissions.rawValue) == 0
    }

    /// Replaces the destination, or copies the content into it.
    ///
    /// - Throws: `Errno`. If `isKept`, the content is complete and stays at `path`.
    func replaceDestination() throws {
        // Some file systems report write errors only on close.
        try descriptor.duplicate().close()
        do {
            if hasAttributes {
                if rename(path, destination) == 0 { return }
                let problem = Errno(rawValue: errno)
                guard (try? FilePath(destination).stat()) != nil else { throw problem }
            }
            let target = try FileDescriptor.open(
                FilePath(destination), .writeOnly, options: [.truncate, .closeOnExec, .noFollow])
            try target.closeAfter { try descriptor.readContent { _ = try target.writeAll($0) } }
        } catch {
            isKept = true
            throw error
        }
    }
}

extension FilePath {
    static var temporaryDirectory: FilePath {
        FilePath(FileManager.default.temporaryDirectory.path(percentEncoded: false))
    }
}
