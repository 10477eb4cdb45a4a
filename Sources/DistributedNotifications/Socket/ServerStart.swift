internal import CLinux
internal import Foundation
internal import Glibc
internal import Synchronization

/// Connects a process to its server, and starts one if none runs.
///
///     connect ─► lock ─► connect again ─► remove a stale socket ─► bind ─► start ─► the server listens ─► unlock
///
/// If many processes begin at the same time, one gets the lock and starts a server. The others connect to it when they
/// get the lock. A connection may end before the server answers, because the server was about to stop.
///
/// Threads: any; the calling thread waits, no longer than the timeout.
package enum ServerStart {
    /// Connects to the server of a directory. Starts one if none runs, see `findProgram`.
    /// - Throws: `DistributedError.pathNotUsable`, or `.serverNotStarted`.
    package static func connect(
        to directory: ServerDirectory, timeout: Duration
    ) throws(DistributedError) -> LocalSocket {
        let deadline = SuspendingClock.now + timeout
        try directory.prepare()
        if let socket = try connectToOwn(directory, until: deadline) { return socket }
        return try directory.whileLocked(until: deadline) { () throws(DistributedError) in
            if let socket = try connectToOwn(directory, until: deadline) { return socket }
            try removeStaleSocket(at: directory.socketPath)
            try start(at: directory, until: deadline)
            if let socket = try connectToOwn(directory, until: deadline) { return socket }
            throw notStarted(directory, "it ended, or its socket was removed, as soon as it listened. \(seeLog)")
        }
    }

    /// Connects to the server of a directory if one runs. Creates and starts nothing.
    /// - Returns: nil if none runs.
    /// - Throws: `DistributedError.pathNotUsable`, or `.serverNotStarted` if one runs but does not accept.
    package static func connectIfServed(
        _ directory: ServerDirectory, timeout: Duration
    ) throws(DistributedError) -> LocalSocket? {
        try directory.exists() ? try connectToOwn(directory, until: .now + timeout) : nil
    }

    private static func connectToOwn(
        _ directory: ServerDirectory, until deadline: SuspendingClock.Instant
    ) throws(DistributedError) -> LocalSocket? {
        let path = directory.socketPath
        guard let socket = try LocalSocket.connect(to: path, until: deadline) else {
            _ = try hasSocket(at: path)
            return nil
        }
        guard let peer = socket.peer, peer.user == geteuid() else {
            throw .pathNotUsable(
                path: path,
                problem: "user \(socket.peer.map { "\($0.user)" } ?? "unknown") serves there, and this process runs as "
                    + "user \(geteuid()): it is not trusted. Use another directory")
        }
        return socket
    }

    /// Removes the socket of a server that has ended. Call it while the directory is locked and no process listens.
    /// - Throws: `DistributedError.pathNotUsable` if the file is not a socket of this user. The file is not removed.
    package static func removeStaleSocket(at path: String) throws(DistributedError) {
        guard try hasSocket(at: path), unlink(path) != 0, errno != ENOENT else { return }
        throw .pathNotUsable(
            path: path, problem: "the socket of a server that has ended cannot be removed: \(SystemError.text(errno))")
    }

    private static func hasSocket(at path: String) throws(DistributedError) -> Bool {
        var file = CLinuxFile()
        guard CLinuxFileAtPath(path, &file) else { return false }
        if file.isSocket, file.owner == geteuid() { return true }
        throw .pathNotUsable(
            path: path, problem: "it is no socket of this user, and is left alone. See what it is, and move it away")
    }

    private static func start(
        at directory: ServerDirectory, until deadline: SuspendingClock.Instant
    ) throws(DistributedError) {
        // A server would have the rights too, and its environment may come from a user without them.
        if CLinuxRunsWithOthersRights() {
            throw notStarted(
                directory,
                "this program runs with rights that its user does not have (set-user-id, set-group-id, file "
                    + "capabilities, or real and effective ids that differ), and such a program starts no server. "
                    + "Start one as user \(geteuid()): \(programName)")
        }
        let found = findProgram()
        guard let program = found.program else { throw notStarted(directory, found.problem) }
        let listener = try LocalSocket.bound(at: directory.socketPath)
        guard let end = launch(program, listener: listener, directory: directory.path, until: deadline) else { return }
        unlink(directory.socketPath)
        throw notStarted(directory, "\(program), started as the server, \(end). \(seeLog)")
    }

    private static let seeLog = "See what one says in another terminal: \(programName)"

    private static func notStarted(_ directory: ServerDirectory, _ problem: String) -> DistributedError {
        .serverNotStarted(path: directory.socketPath, problem: problem)
    }
}

extension ServerStart {
    /// The name of the executable, and argv[0] of any program that is started as the server.
    package static let programName = "notification-server"
    /// The environment variable that names the executable.
    private static let variableName = "DISTRIBUTED_NOTIFICATIONS_SERVER"
    /// True after the running program has called `NotificationServer.runIfAsked()`: then it can be its own server.
    private static let canStartRunningProgram = Atomic(false)

    /// The running program can be started as the server from now on.
    package static func registerRunningProgram() { canStartRunningProgram.store(true, ordering: .relaxed) }

    /// Finds the program to start: the environment variable's; beside the running program; in `PATH`; the running
    /// program itself.
    /// - Returns: the program; if there is none, the problem.
    static func findProgram(
        variable: String? = ServerDirectory.environment(variableName),
        runningProgram: String? = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
        searchPath: String? = ServerDirectory.environment("PATH"),
        runningProgramServes: Bool = canStartRunningProgram.load(ordering: .relaxed),
        isExecutable: (String) -> Bool = FileManager.default.isExecutableFile
    ) -> (program: String?, problem: String) {
        if let variable, !variable.isEmpty {
            // The program runs in the directory "/", so a relative path would name another file.
            let isUsable = variable.hasPrefix("/") && isExecutable(variable)
            return (isUsable ? variable : nil, "\(variableName) is \(variable). Set it to the path of an executable")
        }
        let own = runningProgram.map { ($0 as NSString).deletingLastPathComponent } ?? ""
        let paths = ([own] + (searchPath ?? "").split(separator: ":").map(String.init)).map { "\($0)/\(programName)" }
        if let path = paths.first(where: { $0.hasPrefix("/") && isExecutable($0) }) { return (path, "") }
        return (
            runningProgramServes ? "/proc/self/exe" : nil,
            "there is no executable \(programName) beside this program or in PATH. Build it beside this program (swift "
                + "build --product \(programName), in its package), install it, or set \(variableName) to its path; or "
                + "call NotificationServer.runIfAsked() first in this program's main; or start a server in another "
                + "terminal: \(programName), or notify-demo serve"
        )
    }
}

// The program gets the arguments below, the socket, bound and not yet listening, as descriptor 3, and a pipe as standard
// output and standard error. It writes `ready` when it listens. If it ends instead, what it wrote before is the reason.

extension ServerStart {
    package static let listenerNumber: Int32 = 3
    /// A line of its own.
    package static let ready = "ready"
    private static let option = "--on-demand"

    static func arguments(directory: String) -> [String] { [programName, option, directory] }

    /// - Returns: nil for a program that no client has started as the server.
    package static func directory(in arguments: [String]) -> String? {
        arguments.count == 3 && arguments[0] == programName && arguments[1] == option ? arguments[2] : nil
    }

    /// Starts a program as the server, and waits until it listens or has ended.
    ///
    /// The server inherits the environment, the resource limits and the control group of this process, and nothing
    /// else: it runs in a session of its own, with the default signal handling. It is no child of this process: it is
    /// the copy of a child that ends when the server is ready.
    /// - Returns: what became of the program, with its last output; nil if it listens.
    static func launch(
        _ program: String, listener: LocalSocket, directory: String, until deadline: SuspendingClock.Instant
    ) -> String? {
        var ends: [Int32] = [-1, -1]
        guard CLinuxMakePipe(&ends) == 0 else { return "was not started: \(SystemError.text(errno))" }
        defer { close(ends[0]) }
        var child: pid_t = 0
        let error = spawn(&child, program, listener: listener.descriptor, output: ends[1], directory: directory)
        close(ends[1])
        guard error == 0 else { return "was not started: \(SystemError.text(error))" }
        let output = lines(of: ends[0], until: deadline)
        let isReady = output.last == ready
        let text = output.isEmpty ? "" : ": \(output.joined(separator: "; "))"
        var status: Int32 = 0
        while waitpid(child, &status, WNOHANG) == 0 {
            if .now < deadline {
                usleep(1000)
            } else if isReady {
                return nil
            } else {
                // The whole session, while its number cannot be another's.
                kill(-child, SIGKILL)
                waitpid(child, nil, 0)
                return "was not ready in time, and was ended\(text)"
            }
        }
        if isReady { return nil }
        return "ended at once "
            + (status & 0x7f != 0 ? "by signal \(status & 0x7f)" : "with status \(status >> 8 & 0xff)") + text
    }

    /// Reads lines up to `ready`, to the end of the pipe, or until the deadline; the last ones if there are many.
    private static func lines(of pipe: Int32, until deadline: SuspendingClock.Instant) -> [String] {
        var (bytes, lines) = ([UInt8](), [String]())
        var buffer = [UInt8](repeating: 0, count: 4096)
        while lines.last != ready, .now < deadline {
            var event = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            guard poll(&event, 1, deadline.millisecondsFromNow) > 0 else { continue }
            let count = read(pipe, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes = (bytes + buffer[..<count]).suffix(buffer.count)
            lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        return lines
    }

    private static func spawn(
        _ child: inout pid_t, _ program: String, listener: Int32, output: Int32, directory: String
    ) -> Int32 {
        // The numbers 0 to 3 are overwritten one after the other, so the descriptors must have higher ones.
        let sources = [output, listener].map { fcntl($0, F_DUPFD_CLOEXEC, listenerNumber + 1) }
        defer { for source in sources where source >= 0 { close(source) } }
        if sources.contains(where: { $0 < 0 }) { return EMFILE }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, sources[0], 1)
        posix_spawn_file_actions_adddup2(&actions, sources[0], 2)
        posix_spawn_file_actions_adddup2(&actions, sources[1], listenerNumber)
        _ = CLinuxSpawnClosingFrom(&actions, listenerNumber + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | Int16(CLinuxSpawnInNewSession))
        var arguments = arguments(directory: directory).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawn(&child, program, &actions, &attributes, &arguments, CLinuxCurrentEnvironment())
    }
}
