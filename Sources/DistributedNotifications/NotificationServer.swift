/// The server of a user's processes: takes what they post, and hands it to those that observe it.
///
/// Threads: `run` blocks the thread that calls it and serves on it alone; `stop` may be called on any, and in a signal handler.
public final class NotificationServer: Sendable {
    /// - Parameters:
    ///   - place: where it listens.
    ///   - limits: how much it takes.
    ///   - report: called on the serving thread; what it does delays everybody.
    public init(
        place: ServerPlace = .default, limits: ServerLimits = ServerLimits(),
        report: @escaping @Sendable (ServerEvent) -> Void = { _ in }
    ) {}

    /// Serves until it is stopped, or, with `endsWhenIdle`, has had no client for a while.
    ///
    /// A socket that systemd handed over (LISTEN_FDS) is taken; else one is made.
    /// - Throws: `DistributedError.placeNotUsable`, or `.serverNotStarted` if another server serves there.
    public func run(endsWhenIdle: Bool = false) throws(DistributedError) {}

    /// Has `run` say goodbye to the clients, write what waits, for 2 seconds at most, and return.
    public func stop() {}
}
