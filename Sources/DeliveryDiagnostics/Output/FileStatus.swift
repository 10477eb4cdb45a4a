internal import Glibc

/// The attributes of a file that decide how an output is written.
package struct FileStatus: Sendable {
    /// The device and inode: the same for every name of a file.
    package struct Identity: Sendable, Hashable {
        var device: UInt64
        var inode: UInt64
    }

    package let identity: Identity
    package let isRegular: Bool
    /// The permission bits.
    package let permissions: UInt32
    package let owner: UInt32
    package let group: UInt32
    /// In bytes.
    package let size: Int

    /// - Returns: nil if there is no such file, or it may not be looked at.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// - Returns: nil if no file is open under that number.
    package init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        isRegular = status.st_mode & S_IFMT == S_IFREG
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
        group = status.st_gid
        size = Int(status.st_size)
    }
}
