internal import CLinux
internal import Glibc

/// Connects a process to its server, and starts one if none runs.
///
///     connect ─► lock ─► connect again ─► remove a stale socket ─► bind ─► start ─► the server listens ─► unlock
///
/// If many processes begin at the same time, one gets the lock and starts a server. The others connect to it when they
/// get the lock. A connection may end before the server answers, because the server was about to stop: then connect
/// again.
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
        if let socket = try connectToOwn(directory, until: deadline, timeout: timeout) { return (socket, false) }
        let lock = try DirectoryLock.require(directory, until: deadline, timeout: timeout)
        defer { withExtendedLifetime(lock) {} }
        if let socket = try connectToOwn(directory, until: deadline, timeout: timeout) { return (socket, false) }
        try removeStaleSocket(at: directory.socketPath)
        try start(at: directory, until: deadline, timeout: timeout)
        guard let socket = try connectToOwn(directory, until: deadline, timeout: timeout) else {
            throw .serverNotStarted(
                path: directory.socketPath,
                problem: "it ended, or its socket was removed, as soon as it listened. See what one says in "
                    + "another terminal: \(ServerHandover.programName)")
        }
        return (socket, true)
    }

    /// Connects to the server of a directory if one runs. Creates and starts nothing.
    /// - Returns: nil if none runs.
    /// - Throws: `DistributedError.pathNotUsable`, or `.serverNotStarted` if one runs but does not accept.
    package static func connectIfServed(
        _ directory: ServerDirectory, timeout: Duration
    ) throws(DistributedError) -> LocalSocket? {
        guard try PrivateDirectory.exists(at: directory.path) else { return nil }
        return try connectToOwn(directory, until: SuspendingClock.now + timeout, timeout: timeout)
    }

    /// Removes the socket of a server that has ended. Call it while the directory is locked and no process listens.
    /// - Throws: `DistributedError.pathNotUsable` if the file is not a socket of this user. The file is not removed.
    package static func removeStaleSocket(at path: String) throws(DistributedError) {
        guard try hasSocket(at: path) else { return }
        if unlink(path) != 0, errno != ENOENT {
            throw .pathNotUsable(
                path: path,
                problem: "the socket of a server that has ended cannot be removed: \(SystemError.text(errno))")
        }
    }

    private static func connectToOwn(
        _ directory: ServerDirectory, until deadline: SuspendingClock.Instant, timeout: Duration
    ) throws(DistributedError) -> LocalSocket? {
        let path = directory.socketPath
        switch try LocalSocket.connect(to: path, until: deadline) {
        case .nobodyListens:
            _ = try hasSocket(at: path)
            return nil
        case .queueIsFull:
            throw .serverNotStarted(
                path: path,
                problem: "there is one, but it has accepted nobody for \(timeout). It is stopped or hangs: see which "
                    + "with "
                    + "'fuser -v \(path)', and continue or end it")
        case .connected(let socket):
            let user = geteuid()
            guard let peer = socket.peer else {
                throw .pathNotUsable(path: path, problem: "the system does not say whose server it is")
            }
            guard peer.user == user else {
                throw .pathNotUsable(
                    path: path,
                    problem: "process \(peer.process) of user \(peer.user) serves there, and this process runs as "
                        + "user \(user): "
                        + "it is not trusted. Use another directory")
            }
            return socket
        }
    }

    /// - Throws: `DistributedError.pathNotUsable` if the file is not a socket, or belongs to another user.
    private static func hasSocket(at path: String) throws(DistributedError) -> Bool {
        var file = CLinuxFile()
        guard CLinuxFileAtPath(path, &file) else { return false }
        guard file.isSocket else {
            throw .pathNotUsable(
                path: path,
                problem: "it is no socket, so it is no server's, and is left alone. See what it is, and move it away")
        }
        guard file.owner == geteuid() else {
            throw .pathNotUsable(
                path: path, problem: "it belongs to user \(file.owner), and is left alone. Use another directory")
        }
        return true
    }

    private static func start(
        at directory: ServerDirectory, until deadline: SuspendingClock.Instant, timeout: Duration
    ) throws(DistributedError) {
        let path = directory.socketPath
        if CLinuxRunsWithOthersRights() {
            throw .serverNotStarted(path: path, problem: othersRightsProblem(user: geteuid()))
        }
        let program: ServerProgram
        switch ServerProgram.find() {
        case .program(let found): program = found
        case .none(let problem): throw .serverNotStarted(path: path, problem: problem)
        }
        let listener = try LocalSocket.bound(at: path)
        let outcome = ServerProcess.start(program, listener: listener, directory: directory.path, until: deadline)
        if outcome == .ready { return }
        unlink(path)
        throw .serverNotStarted(path: path, problem: problem(of: outcome, program: program.name, timeout: timeout))
    }

    /// A server would have the rights too, and its environment may come from a user without them.
    static func othersRightsProblem(user: UInt32) -> String {
        "this program runs with rights that its user does not have (set-user-id, set-group-id, file capabilities, or "
            + "real and effective ids that differ), and such a program starts no server. Start one as user \(user): "
            + ServerHandover.programName
    }

    static func problem(of outcome: ServerProcess.Outcome, program: String, timeout: Duration) -> String {
        let (what, output) =
            switch outcome {
            case .ready: ("listens", "")
            case .failed(let call, let error): ("was not started: \(call) failed: \(SystemError.text(error))", "")
            case .timedOut(let output): ("was not ready within \(timeout), and was ended", output)
            case .ended(let status?, let output) where status & 0x7f != 0:
                ("was ended at once by signal \(status & 0x7f)", output)
            case .ended(let status?, let output): ("ended at once with status \(status >> 8 & 0xff)", output)
            case .ended(nil, let output): ("ended at once", output)
            }
        let lines = output.split(separator: "\n").joined(separator: "; ")
        return "\(program), started as the server, \(what)\(lines.isEmpty ? "" : ": \(lines)"). See what one says in "
            + "another terminal: \(ServerHandover.programName)"
    }
}
