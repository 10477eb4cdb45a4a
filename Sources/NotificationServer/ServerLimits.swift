internal import DistributedNotifications

/// How much a server takes, for how long; the defaults are those of the table in the article on distributed notifications.
public struct ServerLimits: Sendable, Hashable {
    /// Processes at a time; and how many of them may not have said hello, for how long. One more ends the oldest of
    /// those.
    public var clients = 1024
    public var clientsBeforeHello = 64
    public var helloTimeout = Duration.seconds(5)
    /// More than 600 count as 600.
    public var observersPerClient = Wire.observerLimit

    /// What waits to be read by a process, in bytes: more than the first for longer than the time, or more than the second, and
    /// notifications for it are dropped, counted, and shown as a gap when it has read what waits.
    public var softQueueBytes = 256 << 10
    public var softQueueTimeout = Duration.seconds(10)
    public var hardQueueBytes = 1 << 20
    /// A process that has read nothing of what waits for so long is disconnected.
    public var progressTimeout = Duration.seconds(30)

    /// What is held for a suspended process, and for all of them.
    public var heldEntriesPerClient = 1024
    public var heldBytesPerClient = 1 << 20
    public var heldBytes = 64 << 20
    public var heldOverflow = HeldOverflow.discardOldest

    /// How many frames of one process are served before it is another's turn.
    public var framesPerTurn = 64
    /// A process that posts more is not read until the second has passed; what it posts then waits, and is not dropped.
    public var postsPerSecond = 1_000_000
    /// How many it may post at a time after it has posted nothing for a while.
    public var postsAtOnce = 250_000

    /// A server that was started on demand ends when it has had no client for so long.
    public var idleTimeout = Duration.seconds(60)
    /// How long it goes on writing what waits when it is told to stop.
    public var stopTimeout = Duration.seconds(2)

    public init() {}

    /// What a server can do: one process at a time that has not said hello, at least one frame in a turn, posts for a
    /// turn at once, one post a second, and no more observers of a process than a frame has room for.
    var usable: ServerLimits {
        var limits = self
        limits.clientsBeforeHello = max(clientsBeforeHello, 1)
        limits.framesPerTurn = max(framesPerTurn, 1)
        limits.postsAtOnce = max(postsAtOnce, limits.framesPerTurn)
        limits.postsPerSecond = max(postsPerSecond, 1)
        limits.observersPerClient = min(max(observersPerClient, 0), 600)
        return limits
    }

    var outbound: OutboundBuffer.Limits {
        OutboundBuffer.Limits(
            soft: softQueueBytes, softTimeout: softQueueTimeout.nanoseconds, hard: hardQueueBytes,
            held: heldBytesPerClient, progressTimeout: progressTimeout.nanoseconds)
    }

    /// When more than this waits to be read by a client, its own frames wait: their answers go into the same buffer.
    var repliesLimit: Int { hardQueueBytes + heldBytesPerClient + (256 << 10) }

    /// What happens to a notification when the queue of a suspended process is full.
    public enum HeldOverflow: String, Sendable, Hashable, CaseIterable, Codable {
        /// The oldest is discarded, and counted.
        case discardOldest
        /// What is held is delivered, suspended or not, and the new one is held.
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
