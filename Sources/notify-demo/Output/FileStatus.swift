import CLinux

/// The attributes of a file that decide how an output is written.
struct FileStatus {
    /// The device and inode: the same for every name of a file.
    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    private var file = CLinuxFile()

    /// - Returns: nil if there is no such file, or it cannot be examined.
    init?(path: String) {
        guard CLinuxFileBehindPath(path, &file) else { return nil }
    }

    /// - Returns: nil if the descriptor is not open.
    init?(descriptor: Int32) {
        guard CLinuxFileOfDescriptor(descriptor, &file) else { return nil }
    }

    var identity: Identity { Identity(device: file.device, inode: file.number) }
    var isRegular: Bool { file.isRegular }
    var permissions: UInt32 { file.permissions }
    var owner: UInt32 { file.owner }
    var group: UInt32 { file.group }
}
