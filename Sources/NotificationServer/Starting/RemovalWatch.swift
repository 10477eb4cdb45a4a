internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// Reports that a file was removed from the server's directory, or the directory itself, so that clients may no longer
/// find the server.
final class RemovalWatch {
    let descriptor: Int32

    /// - Returns: nil if the system cannot watch another directory.
    init?(_ directory: ServerDirectory) {
        descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        if descriptor < 0 { return nil }
        let events = UInt32(IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF)
        if inotify_add_watch(descriptor, directory.path, events) < 0 {
            close(descriptor)
            return nil
        }
    }

    deinit {
        close(descriptor)
    }

    /// Discards the reports so far.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
