internal import CLinux
internal import Glibc

extension ServerDirectory {
    /// Creates the directory with mode 0700 if it does not exist, and checks that it can be used.
    ///
    /// Threads: any. Cost: some system calls.
    /// - Throws: `DistributedError.pathNotUsable`.
    package func prepare() throws(DistributedError) {
        if try exists() { return }
        // Another process may have just created it.
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw notUsable("it cannot be created: \(SystemError.text(errno)). Use another directory")
        }
        guard try exists() else { throw notUsable("it was removed as soon as it was created. Try again") }
    }

    /// - Returns: whether it exists. If it does, it can be used.
    /// - Throws: `DistributedError.pathNotUsable` if it, or its path, cannot be used.
    func exists() throws(DistributedError) -> Bool {
        // With a slash at the end a link would be followed.
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw DistributedError.pathNotUsable(
                path: "\"\(path)\"", problem: "it must begin with a slash, and not end with one")
        }
        guard socketPath.utf8.count <= CLinuxLongestSocketPath() else {
            throw notUsable(
                "the socket's path in it would have \(socketPath.utf8.count) bytes, and the system allows "
                    + "\(CLinuxLongestSocketPath()). Use a directory with a shorter path")
        }
        var file = CLinuxFile()
        guard CLinuxFileAtPath(path, &file) else {
            if errno == ENOENT { return false }
            throw notUsable(SystemError.text(errno))
        }
        let user = geteuid()
        guard file.isDirectory else { throw notUsable("it is a file or a link. Give the path of a directory") }
        guard file.owner == user else {
            throw notUsable(
                "it belongs to user \(file.owner), and this process runs as user \(user). Use another directory")
        }
        guard file.permissions & 0o077 == 0 else {
            throw notUsable(
                "others may look into it (mode \(String(file.permissions, radix: 8))). If nobody else's files are in "
                    + "it, close it with: chmod 700 \(path)")
        }
        // As the effective user, and of a file system that is read-only too.
        guard faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0 else {
            throw notUsable("it cannot be written to: \(SystemError.text(errno)). Use another directory")
        }
        return true
    }

    private func notUsable(_ problem: String) -> DistributedError { .pathNotUsable(path: path, problem: problem) }
}

/// The lock of the server's directory, held while a server starts or stops.
///
/// The kernel releases the lock when the process ends. A lock file that exists is not locked by that alone.
package final class DirectoryLock {
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit {
        // Closing is not enough: a process that was forked meanwhile has the descriptor too.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Locks a directory that exists.
    /// - Parameter creating: whether to create the lock file if it does not exist.
    /// - Throws: `DistributedError.pathNotUsable`, and `.serverNotStarted` if another process held the lock until the
    ///   deadline.
    package static func take(
        _ directory: ServerDirectory, until deadline: SuspendingClock.Instant, creating: Bool = true
    ) throws(DistributedError) -> DirectoryLock {
        let path = directory.lockPath
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (creating ? O_CREAT : 0), 0o600)
        guard descriptor >= 0 else {
            throw .pathNotUsable(path: path, problem: "it cannot be opened to lock it: \(SystemError.text(errno))")
        }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard SuspendingClock.now < deadline else {
                close(descriptor)
                throw .serverNotStarted(
                    path: directory.socketPath,
                    problem: "another process has \(path) locked, as one does that starts or stops a server. See which "
                        + "with 'fuser -v \(path)', and end it if it is stuck")
            }
            usleep(1000)
        }
        return DirectoryLock(descriptor)
    }
}
