import Foundation
import SystemPackage

/// A lock that keeps other processes from recording to a regular file.
struct DestinationLock {
    private let path: String
    private let descriptor: FileDescriptor
    /// True if the file was created for the lock.
    private let isNew: Bool

    /// Opens the file, or creates an empty one.
    ///
    /// - Throws: `Errno`; `.wouldBlock` if another process has the lock.
    init(_ path: String) throws {
        self.path = path
        isNew = (try? FilePath(path).stat()) == nil
        descriptor = try FileDescriptor.open(
            FilePath(path), .writeOnly, options: [.create, .closeOnExec], permissions: .ownerReadWrite)
        guard flock(descriptor.rawValue, LOCK_EX | LOCK_NB) == 0 else {
            let problem = Errno(rawValue: errno)
            try? descriptor.close()
            throw problem
        }
    }

    /// Releases the lock, and removes the file if it was created for it and was not written.
    func release() {
        let own = try? descriptor.stat()
        if isNew, own?.size == 0, own?.isSameFile(as: try? FilePath(path).stat(followTargetSymlink: false)) == true {
            unlink(path)
        }
        try? descriptor.close()
    }
}
