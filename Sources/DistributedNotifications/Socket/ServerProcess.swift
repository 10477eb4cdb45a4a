internal import CLinux
internal import Glibc

/// Starts a program as the server, and waits until it listens or has ended.
///
/// The server inherits the environment, the resource limits and the control group of this process, and nothing else: it
/// runs in a session of its own, with the default signal handling and without the descriptors of this process.
/// It is no child of this process once it is ready: until then this process has a child, which the server leaves
/// behind.
struct ServerProcess {
    /// The result of the start.
    enum Outcome: Hashable {
        case ready
        /// It ended before it listened. `status` is waitpid's; nil if other code of this process waited for the child.
        case ended(status: Int32?, output: String)
        case timedOut(output: String)
        /// The program was not executed.
        case failed(call: String, error: Int32)
    }

    private let id: pid_t
    private let output: OutputPipe

    /// Threads: any; the calling one waits until the deadline at most.
    static func start(
        _ program: ServerProgram, listener: LocalSocket, directory: String, until deadline: SuspendingClock.Instant
    ) -> Outcome {
        guard let output = OutputPipe() else { return .failed(call: "pipe2", error: errno) }
        var id: pid_t = 0
        let error = spawn(&id, program, listener: listener.descriptor, output: output.writeEnd, directory: directory)
        output.closeWriteEnd()
        guard error == 0 else { return .failed(call: "executing it", error: error) }
        return ServerProcess(id: id, output: output).waitUntilReady(until: deadline)
    }

    private static func spawn(
        _ id: inout pid_t, _ program: ServerProgram, listener: Int32, output: Int32, directory: String
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
        return posix_spawn(&id, program.path, &actions, &attributes, &arguments, CLinuxCurrentEnvironment())
    }

    private func waitUntilReady(until deadline: SuspendingClock.Instant) -> Outcome {
        var outputIsOpen = true
        // The status of the child; nil while it runs.
        var status: Int32??
        while true {
            // The child is looked at too: a copy of this process (fork) may hold the pipe open.
            var descriptor = pollfd(fd: outputIsOpen ? output.readEnd : -1, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, min(deadline.millisecondsFromNow, 10)) > 0 {
                outputIsOpen = output.read() > 0
                if output.lines.contains(ServerHandover.ready[...]) {
                    while status == nil, .now < deadline {
                        status = endOfChild()
                        if status == nil { usleep(500) }
                    }
                    return .ready
                }
            }
            status = status ?? endOfChild()
            // The child of a server that is about to be ready ends with success.
            if let status, !outputIsOpen || status != 0 {
                output.readWhatThereIs()
                return .ended(status: status, output: output.text)
            }
            if .now >= deadline {
                // The whole session, while its number cannot be another's.
                if status == nil, kill(-id, SIGKILL) == 0 { waitpid(id, nil, 0) }
                return .timedOut(output: output.text)
            }
        }
    }

    /// - Returns: nil while the child runs; else its status, which is nil if other code of this process waited for it.
    private func endOfChild() -> Int32?? {
        var status: Int32 = 0
        switch waitpid(id, &status, WNOHANG) {
        case id: return .some(status)
        case 0: return nil
        default: return errno == EINTR ? nil : .some(nil)
        }
    }
}

/// The output of a server before it is ready.
private final class OutputPipe {
    let readEnd: Int32
    private(set) var writeEnd: Int32
    private var bytes: [UInt8] = []
    /// The last bytes are kept for a message.
    private static let limit = 4096

    /// - Returns: nil, with errno, if there is no descriptor left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard CLinuxMakePipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        closeWriteEnd()
    }

    func closeWriteEnd() {
        if writeEnd >= 0 { close(writeEnd) }
        writeEnd = -1
    }

    /// Reads once, and blocks while there is nothing.
    /// - Returns: the number of bytes; 0 at the end.
    func read() -> Int {
        withUnsafeTemporaryAllocation(byteCount: Self.limit, alignment: 1) { buffer in
            let count = Glibc.read(readEnd, buffer.baseAddress, buffer.count)
            guard count > 0 else { return count }
            bytes = Array((bytes + buffer[..<count]).suffix(Self.limit))
            return count
        }
    }

    /// Reads without blocking, until the limit.
    func readWhatThereIs() {
        var descriptor = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        while bytes.count < Self.limit, poll(&descriptor, 1, 0) > 0, read() > 0 {}
    }

    var lines: [Substring] { text.split(separator: "\n") }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}
