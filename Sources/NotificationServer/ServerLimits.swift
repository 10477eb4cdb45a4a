internal import DistributedNotifications

/// How much a server accepts and holds, and its timeouts. The defaults are those of the table in the article
/// *Distributed Notifications*.
public struct ServerLimits: Sendable, Hashable {
    /// Connected processes.
    public var clients = 1024
    /// Connected processes that have not said hello. One more disconnects the oldest of them.
    public var clientsBeforeHello = 64
    /// The longest that a process may be connected before its hello.
    public var helloTimeout = Duration.seconds(5)
    /// Observers of one process. Values above 600 count as 600.
    public var observersPerClient = Wire.observerLimit

    /// Bytes that wait to be read by one process, for longer than `softQueueTimeout`. Beyond this, notifications for
    /// the process are dropped and counted until it has read all that waits; then it is sent the count as a gap.
    public var softQueueBytes = 256 << 10
    public var softQueueTimeout = Duration.seconds(10)
    /// Bytes that wait to be read by one process at any time.
    public var hardQueueBytes = 1 << 20
    /// A process that has read none of the bytes that wait for it for this time is disconnected.
    public var progressTimeout = Duration.seconds(30)

    /// Notifications held for one suspended process.
    public var heldEntriesPerClient = 1024
    /// Bytes held for one suspended process.
    public var heldBytesPerClient = 1 << 20
    /// Bytes held for all suspended processes.
    public var heldBytes = 64 << 20
    public var heldOverflow = HeldOverflow.discardOldest

    /// Frames of one process that are served before the next process has its turn.
    public var framesPerTurn = 64
    /// Posts of one process. A process that posts faster is not read for a while: its posts wait, and none is dropped.
    public var postsPerSecond = 1_000_000
    /// Posts that one process may make at once after it has posted nothing for a while.
    public var postsAtOnce = 250_000

    /// A server that was started on demand ends when no process has been connected for this time.
    public var idleTimeout = Duration.seconds(60)
    /// The longest that a server that stops writes what waits for its clients.
    public var stopTimeout = Duration.seconds(2)

    /// The most observers for which a frame has room.
    static let observersInAFrame = 600
    /// The bytes that count for each observer of a held notification, so that many observers count towards the limits.
    static let heldBytesPerObserver = 64
    /// Connections that are accepted in one turn.
    static let connectionsPerTurn = 64
    /// How long no process is accepted when there is no descriptor left.
    static let descriptorPause = Duration.milliseconds(100)

    public init() {}

    /// These limits, raised to the least with which a server can work, and lowered to the number of observers for which
    /// a frame has room.
    var usable: ServerLimits {
        var limits = self
        limits.clientsBeforeHello = max(clientsBeforeHello, 1)
        limits.framesPerTurn = max(framesPerTurn, 1)
        limits.postsAtOnce = max(postsAtOnce, limits.framesPerTurn)
        limits.postsPerSecond = max(postsPerSecond, 1)
        limits.observersPerClient = min(max(observersPerClient, 0), Self.observersInAFrame)
        return limits
    }

    /// When more than this waits to be read by a client, its own frames wait: their answers go into the same buffer.
    var repliesLimit: Int { hardQueueBytes + heldBytesPerClient + (256 << 10) }

    /// Which notification gives way when the queue of a suspended process is full.
    public enum HeldOverflow: String, Sendable, Hashable, CaseIterable, Codable {
        /// The oldest held notification is discarded and counted.
        case discardOldest
        /// All held notifications are delivered although the process is suspended, and the new one is held.
        case deliver
    }
}

extension Duration {
    /// Zero if it is negative; of more than 30 years, 30 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(1_000_000_000)).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
