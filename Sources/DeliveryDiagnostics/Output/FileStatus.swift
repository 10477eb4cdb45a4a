internal import CLinux

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

    /// - Returns: nil if there is no such file, or it cannot be examined.
    package init?(path: String) {
        var file = CLinuxFile()
        guard CLinuxFileBehindPath(path, &file) else { return nil }
        self.init(file)
    }

    /// - Returns: nil if the descriptor is not open.
    package init?(descriptor: Int32) {
        var file = CLinuxFile()
        guard CLinuxFileOfDescriptor(descriptor, &file) else { return nil }
        self.init(file)
    }

    private init(_ file: CLinuxFile) {
        identity = Identity(device: file.device, inode: file.number)
        isRegular = file.isRegular
        permissions = file.permissions
        owner = file.owner
        group = file.group
        size = Int(file.size)
    }
}
