internal import CLinux
internal import Glibc

/// The lock of the server's directory, held while a server starts or stops.
///
/// The kernel releases the lock when the process ends. A lock file that exists is not locked by that alone.
package final class DirectoryLock {
    private let descriptor: Int32

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        // Closing is not enough: a process that was forked meanwhile has the descriptor too.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Locks a directory that exists.
    /// - Parameter creating: whether to create the lock file if it does not exist.
    /// - Returns: nil if another process held the lock until the deadline.
    /// - Throws: `DistributedError.pathNotUsable`.
    package static func take(
        _ directory: ServerDirectory, until deadline: SuspendingClock.Instant, creating: Bool = true
    ) throws(DistributedError) -> DirectoryLock? {
        let path = directory.lockPath
        var pause = Duration.milliseconds(1)
        while true {
            let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (creating ? O_CREAT : 0)
            let descriptor = open(path, flags, 0o600)
            if descriptor < 0 {
                throw .pathNotUsable(path: path, problem: "it cannot be opened to lock it: \(SystemError.text(errno))")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                let lock = DirectoryLock(descriptor: descriptor)
                if lock.isStill(at: path) { return lock }
                // The file was removed after it was opened, so other processes lock another one.
                continue
            }
            let error = errno
            close(descriptor)
            guard error == EWOULDBLOCK || error == EINTR else {
                throw .pathNotUsable(path: path, problem: "it cannot be locked: \(SystemError.text(error))")
            }
            guard SuspendingClock.now < deadline else { return nil }
            Self.sleep(pause)
            pause = min(pause * 2, .milliseconds(16))
        }
    }

    /// As `take`.
    /// - Throws: also `DistributedError.serverNotStarted` if another process held the lock until the deadline.
    package static func require(
        _ directory: ServerDirectory, until deadline: SuspendingClock.Instant, timeout: Duration
    ) throws(DistributedError) -> DirectoryLock {
        if let lock = try take(directory, until: deadline) { return lock }
        throw .serverNotStarted(
            path: directory.socketPath,
            problem: "another process has had \(directory.lockPath) locked for \(timeout), as one does that starts or "
                + "stops a "
                + "server. See which with 'fuser -v \(directory.lockPath)', and end it if it is stuck")
    }

    private func isStill(at path: String) -> Bool {
        var opened = CLinuxFile()
        var present = CLinuxFile()
        return CLinuxFileOfDescriptor(descriptor, &opened) && CLinuxFileAtPath(path, &present)
            && opened.device == present.device && opened.number == present.number
    }

    private static func sleep(_ duration: Duration) {
        usleep(UInt32(duration.components.attoseconds / 1_000_000_000_000))
    }
}
