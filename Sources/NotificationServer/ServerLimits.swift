internal import DistributedNotifications

/// How much a server accepts and holds, and its timeouts. The article *Distributed Notifications* has a table of them.
public struct ServerLimits: Sendable, Hashable {
    /// Connected processes, as far as this process may have so many files open.
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
    /// Bytes that wait to be read by one process at any time. After held notifications were delivered, up to
    /// `heldBytesPerClient` more, until the process has read all.
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

    /// Bytes that wait for one kept client, such as a bridge to other machines. The oldest of more are discarded.
    public var keptBytes = 64 << 20
    /// How long they wait while it is not connected.
    public var keptTimeout = Duration.seconds(24 * 60 * 60)

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

    public init() {}

    /// Which notification gives way when the queue of a suspended process is full.
    public enum HeldOverflow: String, Sendable, Hashable, CaseIterable, Codable {
        /// The oldest held notification is discarded and counted.
        case discardOldest
        /// All held notifications are delivered although the process is suspended, and the new one is held.
        case deliver
    }

    /// These limits, between the least with which a server can work and what fits into a frame and into sums.
    var usable: ServerLimits {
        var limits = self
        let (some, any) = (1...1 << 40, 0...1 << 40)
        for (limit, range) in [
            (\.clientsBeforeHello, some), (\.framesPerTurn, some), (\.postsPerSecond, some), (\.softQueueBytes, any),
            (\.hardQueueBytes, any), (\.heldBytesPerClient, any), (\.heldBytes, any), (\.keptBytes, any),
            (\.observersPerClient, 0...600),
        ] as [(WritableKeyPath<ServerLimits, Int>, ClosedRange<Int>)] {
            limits[keyPath: limit] = min(max(self[keyPath: limit], range.lowerBound), range.upperBound)
        }
        limits.postsAtOnce = max(postsAtOnce, limits.framesPerTurn)
        return limits
    }

    /// When more than this waits to be read by a client, its own frames wait: their answers go into the same buffer.
    var repliesLimit: Int { hardQueueBytes + heldBytesPerClient + (256 << 10) }
}

extension Duration {
    /// Zero if it is negative; of more than 30 years, 30 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(1_000_000_000)).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
