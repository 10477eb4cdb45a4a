import CLinux

/// The attributes of a file that decide how an output is written.
struct FileStatus: Sendable {
    /// The device and inode: the same for every name of a file.
    struct Identity: Sendable, Hashable {
        var device: UInt64
        var inode: UInt64
    }

    let identity: Identity
    let isRegular: Bool
    /// The permission bits.
    let permissions: UInt32
    let owner: UInt32
    let group: UInt32
    /// In bytes.
    let size: Int

    /// - Returns: nil if there is no such file, or it cannot be examined.
    init?(path: String) {
        var file = CLinuxFile()
        guard CLinuxFileBehindPath(path, &file) else { return nil }
        self.init(file)
    }

    /// - Returns: nil if the descriptor is not open.
    init?(descriptor: Int32) {
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
