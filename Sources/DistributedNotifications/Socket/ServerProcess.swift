internal import CLinux
internal import Glibc

/// Starts a program as the server, and waits until it listens or has ended.
///
/// The server inherits the environment, the resource limits and the control group of this process, and nothing else: it
/// runs in a session of its own, with the default signal handling. It is no child of this process: it is the copy of a
/// child that ends when the server is ready.
struct ServerProcess {
    private let id: pid_t
    /// The status of the child; nil while it runs.
    private var status: Int32?

    /// Threads: any; the calling one waits until the deadline at most.
    /// - Returns: what became of the program, with its last output; nil if it listens.
    static func start(
        _ program: String, listener: LocalSocket, directory: String, until deadline: SuspendingClock.Instant
    ) -> String? {
        var ends: [Int32] = [-1, -1]
        guard CLinuxMakePipe(&ends) == 0 else { return "was not started: \(SystemError.text(errno))" }
        defer { close(ends[0]) }
        var id: pid_t = 0
        let error = spawn(&id, program, listener: listener.descriptor, output: ends[1], directory: directory)
        close(ends[1])
        guard error == 0 else { return "was not started: \(SystemError.text(error))" }
        var process = ServerProcess(id: id)
        return process.waitUntilReady(output: ends[0], until: deadline)
    }

    private static func spawn(
        _ id: inout pid_t, _ program: String, listener: Int32, output: Int32, directory: String
    ) -> Int32 {
        // The numbers 0 to 3 are overwritten one after the other, so the descriptors must have higher ones.
        let sources = [output, listener].map { fcntl($0, F_DUPFD_CLOEXEC, ServerHandover.listener + 1) }
        defer { for source in sources where source >= 0 { close(source) } }
        if sources.contains(where: { $0 < 0 }) { return EMFILE }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, sources[0], 1)
        posix_spawn_file_actions_adddup2(&actions, sources[0], 2)
        posix_spawn_file_actions_adddup2(&actions, sources[1], ServerHandover.listener)
        _ = CLinuxSpawnClosingFrom(&actions, ServerHandover.listener + 1)
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
        var arguments = ServerHandover.arguments(directory: directory).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        return posix_spawn(&id, program, &actions, &attributes, &arguments, CLinuxCurrentEnvironment())
    }

    private mutating func waitUntilReady(output: Int32, until deadline: SuspendingClock.Instant) -> String? {
        var bytes: [UInt8] = []
        var (isOpen, isReady) = (true, false)
        while .now < deadline {
            // The child is looked at too: a copy of this process (fork) may hold the pipe open.
            reap()
            // The child of a server that is ready ends at once.
            if isReady, status != nil { return nil }
            var pipe = pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0)
            if poll(&pipe, 1, isReady ? 1 : 10) > 0 {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = max(read(output, &buffer, buffer.count), 0)
                isOpen = count > 0
                // The last bytes are kept for the message.
                bytes = (bytes + buffer[..<count]).suffix(buffer.count)
                isReady = isReady || Self.lines(bytes).contains(ServerHandover.ready)
            } else if let status, status != 0 || !isOpen {
                let how = status & 0x7f != 0 ? "by signal \(status & 0x7f)" : "with status \(status >> 8 & 0xff)"
                return Self.text("ended at once \(how)", bytes)
            }
        }
        if isReady { return nil }
        // The whole session, while its number cannot be another's.
        if status == nil, kill(-id, SIGKILL) == 0 { waitpid(id, nil, 0) }
        return Self.text("was not ready in time, and was ended", bytes)
    }

    private mutating func reap() {
        var ended: Int32 = 0
        guard status == nil else { return }
        switch waitpid(id, &ended, WNOHANG) {
        case 0: return
        case id: status = ended
        default: status = 0  // Other code of this process waited for the child.
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func text(_ end: String, _ output: [UInt8]) -> String {
        output.isEmpty ? end : "\(end): \(lines(output).joined(separator: "; "))"
    }
}
