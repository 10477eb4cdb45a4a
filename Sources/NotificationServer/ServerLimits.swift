internal import DistributedNotifications

/// How much a server accepts and holds, and its timeouts. The defaults are those of the table in the article
/// *Distributed Notifications*.
public struct ServerLimits: Sendable, Hashable {
    /// Connected processes, as far as this process may have so many files open.
    public var clients = Wire.clientLimit
    /// Connected processes that have not said hello. One more disconnects the oldest of them.
    public var clientsBeforeHello = Wire.clientBeforeHelloLimit
    /// The longest that a process may be connected before its hello.
    public var helloTimeout = Wire.helloTimeout
    /// Observers of one process. Values above 600 count as 600.
    public var observersPerClient = Wire.observerLimit

    /// Bytes that wait to be read by one process, for longer than `softQueueTimeout`. Beyond this, notifications for
    /// the process are dropped and counted until it has read all that waits; then it is sent the count as a gap.
    public var softQueueBytes = Wire.softQueueLimit
    public var softQueueTimeout = Wire.softQueueTimeout
    /// Bytes that wait to be read by one process at any time. After held notifications were delivered, up to
    /// `heldBytesPerClient` more, until the process has read all.
    public var hardQueueBytes = Wire.hardQueueLimit
    /// A process that has read none of the bytes that wait for it for this time is disconnected.
    public var progressTimeout = Wire.progressTimeout

    /// Notifications held for one suspended process.
    public var heldEntriesPerClient = Wire.heldEntryLimit
    /// Bytes held for one suspended process.
    public var heldBytesPerClient = Wire.heldByteLimit
    /// Bytes held for all suspended processes.
    public var heldBytes = Wire.allHeldByteLimit
    public var heldOverflow = HeldOverflow.discardOldest

    /// Bytes that wait for one kept client, such as a bridge to other machines. The oldest of more are discarded.
    public var keptBytes = Wire.keptByteLimit
    /// How long they wait while it is not connected.
    public var keptTimeout = Wire.keptTimeout

    /// Frames of one process that are served before the next process has its turn.
    public var framesPerTurn = Wire.turnLimit
    /// Posts of one process. A process that posts faster is not read for a while: its posts wait, and none is dropped.
    public var postsPerSecond = Wire.postsPerSecond
    /// Posts that one process may make at once after it has posted nothing for a while.
    public var postsAtOnce = Wire.postsAtOnce

    /// A server that was started on demand ends when no process has been connected for this time.
    public var idleTimeout = Wire.idleTimeout
    /// The longest that a server that stops writes what waits for its clients.
    public var stopTimeout = Wire.stopTimeout

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
