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
        guard mkdir(path, 0o700) == 0 || errno == EEXIST, try exists() else {
            throw notUsable("it cannot be created: \(SystemError.text(errno)). Use another directory")
        }
    }

    /// - Returns: whether it exists. If it does, it can be used.
    /// - Throws: `DistributedError.pathNotUsable` if it, or its path, cannot be used.
    func exists() throws(DistributedError) -> Bool {
        // With a slash at the end a link would be followed.
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw .pathNotUsable(path: "\"\(path)\"", problem: "it must begin with a slash, and not end with one")
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
        guard file.isDirectory else { throw notUsable("it is a file or a link. Give the path of a directory") }
        guard file.owner == geteuid() else {
            throw notUsable(
                "it belongs to user \(file.owner), and this process runs as user \(geteuid()). Use another directory")
        }
        guard file.permissions & 0o077 == 0 else {
            throw notUsable(
                "others may look into it (mode \(String(file.permissions, radix: 8))). If nobody else's files are in "
                    + "it, close it with: chmod 700 \(path)")
        }
        return true
    }

    private func notUsable(_ problem: String) -> DistributedError { .pathNotUsable(path: path, problem: problem) }

    /// Calls `body` while the directory, which exists, is locked. A process holds the lock while it starts or stops a
    /// server; the kernel releases it when the process ends. A lock file that exists is not locked by that alone.
    /// - Parameter creating: whether to create the lock file if it does not exist.
    /// - Throws: `DistributedError.pathNotUsable`, and `.serverNotStarted` if another process held the lock until the
    ///   deadline.
    package func whileLocked<Value>(
        until deadline: SuspendingClock.Instant, creating: Bool = true,
        _ body: () throws(DistributedError) -> Value
    ) throws(DistributedError) -> Value {
        let lock = open(lockPath, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (creating ? O_CREAT : 0), 0o600)
        guard lock >= 0 else {
            throw .pathNotUsable(
                path: lockPath, problem: "it cannot be opened to lock it: \(SystemError.text(errno))")
        }
        defer {
            // Closing is not enough: a process that was forked meanwhile has the descriptor too.
            _ = flock(lock, LOCK_UN)
            close(lock)
        }
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard SuspendingClock.now < deadline else {
                throw .serverNotStarted(
                    path: socketPath,
                    problem: "another process has \(lockPath) locked, as one does that starts or stops a server. See "
                        + "which with 'fuser -v \(lockPath)', and end it if it is stuck")
            }
            usleep(1000)
        }
        return try body()
    }
}
