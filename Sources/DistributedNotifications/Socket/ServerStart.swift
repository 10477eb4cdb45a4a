internal import CLinux
internal import Glibc

/// Connects a process to its server, and starts one if none runs.
///
///     connect ─► lock ─► connect again ─► remove a stale socket ─► bind ─► start ─► the server listens ─► unlock
///
/// If many processes begin at the same time, one gets the lock and starts a server. The others connect to it when they
/// get the lock. A connection may end before the server answers, because the server was about to stop.
///
/// Threads: any; the calling thread waits, no longer than the timeout.
package enum ServerStart {
    /// Connects to the server of a directory. Starts one if none runs, see `ServerProgram`.
    /// - Throws: `DistributedError.pathNotUsable`, or `.serverNotStarted`.
    package static func connect(
        to directory: ServerDirectory, timeout: Duration
    ) throws(DistributedError) -> (socket: LocalSocket, started: Bool) {
        let deadline = SuspendingClock.now + timeout
        try directory.prepare()
        if let socket = try connectToOwn(directory, until: deadline) { return (socket, false) }
        let lock = try DirectoryLock.take(directory, until: deadline)
        defer { withExtendedLifetime(lock) {} }
        if let socket = try connectToOwn(directory, until: deadline) { return (socket, false) }
        try removeStaleSocket(at: directory.socketPath)
        try start(at: directory, until: deadline)
        if let socket = try connectToOwn(directory, until: deadline) { return (socket, true) }
        throw .serverNotStarted(
            path: directory.socketPath,
            problem: "it ended, or its socket was removed, as soon as it listened. See what one says in another "
                + "terminal: \(ServerHandover.programName)")
    }

    /// Connects to the server of a directory if one runs. Creates and starts nothing.
    /// - Returns: nil if none runs.
    /// - Throws: `DistributedError.pathNotUsable`, or `.serverNotStarted` if one runs but does not accept.
    package static func connectIfServed(
        _ directory: ServerDirectory, timeout: Duration
    ) throws(DistributedError) -> LocalSocket? {
        try directory.exists() ? try connectToOwn(directory, until: .now + timeout) : nil
    }

    /// Removes the socket of a server that has ended. Call it while the directory is locked and no process listens.
    /// - Throws: `DistributedError.pathNotUsable` if the file is not a socket of this user. The file is not removed.
    package static func removeStaleSocket(at path: String) throws(DistributedError) {
        guard try hasSocket(at: path), unlink(path) != 0, errno != ENOENT else { return }
        throw .pathNotUsable(
            path: path, problem: "the socket of a server that has ended cannot be removed: \(SystemError.text(errno))")
    }

    private static func connectToOwn(
        _ directory: ServerDirectory, until deadline: SuspendingClock.Instant
    ) throws(DistributedError) -> LocalSocket? {
        let path = directory.socketPath
        switch try LocalSocket.connect(to: path, until: deadline) {
        case .nobodyListens:
            _ = try hasSocket(at: path)
            return nil
        case .queueIsFull:
            throw .serverNotStarted(
                path: path,
                problem: "there is one, but it accepts nobody. It is stopped or hangs: see which with "
                    + "'fuser -v \(path)', and continue or end it")
        case .connected(let socket):
            guard let peer = socket.peer, peer.user == geteuid() else {
                throw .pathNotUsable(
                    path: path,
                    problem: "user \(socket.peer.map { "\($0.user)" } ?? "unknown") serves there, and this process "
                        + "runs as user \(geteuid()): it is not trusted. Use another directory")
            }
            return socket
        }
    }

    /// - Throws: `DistributedError.pathNotUsable` if the file is not a socket, or belongs to another user.
    private static func hasSocket(at path: String) throws(DistributedError) -> Bool {
        var file = CLinuxFile()
        guard CLinuxFileAtPath(path, &file) else { return false }
        guard file.isSocket, file.owner == geteuid() else {
            throw .pathNotUsable(
                path: path,
                problem: "it is no socket of this user, and is left alone. See what it is, and move it away")
        }
        return true
    }

    private static func start(
        at directory: ServerDirectory, until deadline: SuspendingClock.Instant
    ) throws(DistributedError) {
        let path = directory.socketPath
        // A server would have the rights too, and its environment may come from a user without them.
        if CLinuxRunsWithOthersRights() {
            throw .serverNotStarted(
                path: path,
                problem: "this program runs with rights that its user does not have (set-user-id, set-group-id, file "
                    + "capabilities, or real and effective ids that differ), and such a program starts no server. "
                    + "Start one as user \(geteuid()): \(ServerHandover.programName)")
        }
        let found = ServerProgram.find()
        guard let program = found.program else { throw .serverNotStarted(path: path, problem: found.problem) }
        let listener = try LocalSocket.bound(at: path)
        guard let end = ServerProcess.start(program, listener: listener, directory: directory.path, until: deadline)
        else { return }
        unlink(path)
        throw .serverNotStarted(
            path: path,
            problem: "\(program), started as the server, \(end). See what one says in another terminal: "
                + ServerHandover.programName)
    }
}
