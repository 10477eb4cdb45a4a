internal import Glibc
internal import SystemPackage

/// A file that is written beside another and takes its place when it is complete. Until then the other is unchanged.
///
/// Threads: any, one at a time.
package final class ReplacementFile {
    /// Where it is until it takes the other's place.
    package let path: String
    package let descriptor: Int32
    private let destination: String
    private var isOpen = true
    private var isPlaced = false

    /// Makes an empty file beside the destination, with the permissions of the file that is there.
    ///
    /// - Parameters:
    ///   - destination: a regular file that may be written, or nothing yet; no symbolic link.
    ///   - suffix: what is put after the destination's name, before something random; nil for a short hidden name.
    ///   - permissions: of a new file, less those that the process's mask takes away.
    /// - Throws: `Errno`.
    package init(_ destination: String, suffix: String? = nil, permissions: UInt32 = 0o644) throws {
        if destination.isEmpty { throw Errno.noSuchFileOrDirectory }
        let existing = try Self.writableFile(destination)
        let directory = FilePath(destination).removingLastComponent()
        let name = FilePath(destination).lastComponent?.string ?? ""
        var (path, descriptor): (String, Int32)
        repeat {
            let random = String(UInt32.random(in: .min ... .max), radix: 36)
            path = directory.appending((suffix.map { name + $0 } ?? ".notify-demo-") + random).string
            descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        } while descriptor < 0 && (errno == EEXIST || errno == EINTR)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        self.path = path
        self.descriptor = descriptor
        self.destination = destination
        guard let existing, existing.isRegular else { return }
        let isOwners = fchown(descriptor, existing.owner, existing.group) == 0
        // Permissions of another group than before are not given to this one.
        _ = fchmod(descriptor, existing.permissions & (isOwners ? 0o7777 : 0o707))
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

    /// Takes the destination's place.
    /// - Throws: `Errno`.
    package func place() throws {
        try close()
        guard rename(path, destination) == 0 else { throw Errno(rawValue: errno) }
        isPlaced = true
    }

    private func close() throws {
        guard isOpen else { return }
        isOpen = false
        guard Glibc.close(descriptor) == 0 || errno == EINTR else { throw Errno(rawValue: errno) }
    }

    /// Leaves the file where it is.
    package func keep() {
        isPlaced = true
        try? close()
    }

    /// Removes the file, if it did not take the destination's place.
    package func discard() {
        try? close()
        if !isPlaced { unlink(path) }
        isPlaced = true
    }
}
