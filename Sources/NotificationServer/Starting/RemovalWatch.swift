internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// Reports that a file was removed from the server's directory, or the directory itself, so that clients may no longer
/// find the server.
final class RemovalWatch {
    private let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))

    /// - Returns: nil if the system cannot watch another directory.
    init?(_ directory: ServerDirectory, poll: EventPoll, number: UInt64) {
        let events = UInt32(IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF)
        guard descriptor >= 0, inotify_add_watch(descriptor, directory.path, events) >= 0,
            poll.watch(descriptor, as: number, isNew: true) == 0
        else { return nil }
    }

    deinit { close(descriptor) }

    /// Discards the reports so far.
    func clear() {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
        }
    }
}
