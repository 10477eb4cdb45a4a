public import DistributedNotifications
internal import ThreadedNotifications

/// The server of a user's processes: takes what they post, and hands it to those that observe it. It never looks into a userInfo.
///
/// Programs need none of this: `DistributedCenter` starts a server when there is none.
/// Threads: `run` blocks the thread that calls it and serves on it alone; `stop` may be called on any, and in a signal handler.
public final class LocalServer: Sendable {
    private let place: ServerPlace
    private let limits: ServerLimits
    private let report: @Sendable (ServerEvent) -> Void
    /// Nil: the system had no descriptor left.
    private let stopping = EventDescriptor()

    /// - Parameters:
    ///   - place: where it listens.
    ///   - limits: how much it takes.
    ///   - report: called on the serving thread; what it does delays everybody.
    public init(
        place: ServerPlace = .default, limits: ServerLimits = ServerLimits(),
        report: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) {
        self.place = place
        self.limits = limits
        self.report = report
    }

    /// Serves until it is stopped, or, with `endsWhenIdle`, nobody was connected for `ServerLimits.idleTimeout`.
    ///
    /// A socket that systemd handed over (LISTEN_FDS) is taken; else one is made. As many files may be open in this
    /// process afterwards as `ServerLimits.clients` needs, if the hard limit allows it.
    /// Threads: no other may touch the environment until it listens, since the variables of systemd are removed.
    /// - Throws: `DistributedError.placeNotUsable`, or `.serverNotStarted` if another server serves there, or this
    ///   process may have too few files open.
    public func run(endsWhenIdle: Bool = false) throws(DistributedError) {
        if let problem = ServerResource.raise([.openFiles(limits)]) {
            throw .serverNotStarted(path: place.socketPath, problem: "this process has too low a limit: \(problem)")
        }
        let socket = try ServedSocket.open(at: place, limit: .seconds(5))
        try serve(socket, endsWhenIdle: endsWhenIdle)
    }

    func serve(_ socket: ServedSocket, endsWhenIdle: Bool) throws(DistributedError) {
        guard let stopping,
            var loop = ServerLoop(socket, limits: limits, endsWhenIdle: endsWhenIdle, stop: stopping, report: report)
        else {
            throw .serverNotStarted(
                path: place.socketPath,
                problem: "the system has no descriptor left. Close files, or raise the limit (ulimit -n)")
        }
        loop.run()
    }

    /// Has `run` say goodbye to the processes, write what waits, for `ServerLimits.stopTimeout` at most, and return. To call it
    /// before `run` has it return at once.
    public func stop() {
        stopping?.makeReady()
    }
}
