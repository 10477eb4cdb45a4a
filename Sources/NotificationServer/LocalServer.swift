internal import CLinux
public import DistributedNotifications
internal import Glibc
internal import ThreadedNotifications

/// A server for the processes of one user: it receives what they post and sends it to those that observe it. It never
/// decodes a userInfo.
///
/// Most programs do not need it: `DistributedCenter` starts a server when there is none.
/// Threads: `run` serves on the thread that calls it and blocks it; `stop` may be called on any thread, and in a signal
/// handler.
public final class LocalServer: Sendable {
    private let directory: ServerDirectory
    private let limits: ServerLimits
    private let log: @Sendable (String) -> Void
    /// Nil if the system had no descriptor left.
    private let stopping = EventDescriptor()

    /// - Parameters:
    ///   - directory: the directory in which it listens.
    ///   - limits: how much it accepts and holds.
    ///   - log: gets a line for each process that connects, is refused, reads too slowly or disconnects. Called on the
    ///     serving thread; while it runs, no client is served.
    public init(
        directory: ServerDirectory = .default, limits: ServerLimits = ServerLimits(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.directory, self.limits, self.log) = (directory, limits, log)
    }

    /// Serves until it is stopped or, with `endsWhenIdle`, until no process has been connected for
    /// `ServerLimits.idleTimeout`.
    ///
    /// It uses the socket that systemd passes (LISTEN_FDS), and otherwise creates one. It raises this process's limit
    /// of open files to the number that `ServerLimits.clients` needs, or to the hard limit.
    /// Threads: no other thread may use the environment until the server listens, because it removes systemd's
    /// variables.
    /// - Throws: `DistributedError.pathNotUsable`; `.serverNotStarted` if another server uses the directory.
    public func run(endsWhenIdle: Bool = false) throws(DistributedError) {
        try serve(try ServedSocket.open(at: directory, timeout: .seconds(5)), endsWhenIdle: endsWhenIdle)
    }

    func serve(_ socket: ServedSocket, endsWhenIdle: Bool) throws(DistributedError) {
        var limits = limits.usable
        let files = CLinuxRaiseResourceLimit(Int32(RLIMIT_NOFILE.rawValue), UInt64(clamping: limits.clients) + 64)
        // What a server needs besides is fewer than 16.
        limits.clients = max(min(limits.clients, Int(clamping: files) - 16), 0)
        guard let stopping,
            var loop = ServerLoop(socket, limits: limits, endsWhenIdle: endsWhenIdle, stop: stopping, log: log)
        else {
            throw .serverNotStarted(
                path: directory.socketPath,
                problem: "the system has no descriptor left. Close files, or raise the limit (ulimit -n)")
        }
        loop.run()
    }

    /// Ends `run`: it says goodbye to the clients, writes what waits for them for at most `ServerLimits.stopTimeout`,
    /// and returns. If `run` is called later, it returns at once.
    public func stop() { stopping?.makeReady() }
}
