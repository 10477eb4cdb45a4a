import SystemPackage

extension Stat {
    /// True if both describe the same file, whatever its name.
    func isSameFile(as other: Stat?) -> Bool { deviceID == other?.deviceID && inode == other?.inode }
}
