internal import DistributedNotifications
internal import Glibc

/// A process that is connected to the server.
///
/// Threads: only the serving thread uses it.
final class ServerClient {
    /// Increases with each process that connects; never used again.
    let number: Int
    /// The socket's. The number may be another file's once the client is closed.
    let descriptor: Int32
    let process: Int32
    let connectedAt: UInt64
    private let limits: ServerLimits
    /// Nil once it is closed: routes of other clients keep this object for a while.
    private var socket: LocalSocket?

    // Each post reads and changes some of these several times, and checks of exclusive access would cost more than
    // that. Only the serving thread has them, and no property is passed `inout` to a call that reaches it in another
    // way.
    @exclusivity(unchecked) var state: State

    struct State {
        /// The name from its hello; nil before.
        var name: String?
        var phase = Phase.open
        var decoder = FrameDecoder()
        var outbound: OutboundBuffer
        var suspension: SuspensionBuffer<HeldNotification>
        var bucket: TokenBucket
        /// The recipients of its last post.
        var route: Route?

        var posted = 0
        var counts = NotificationCounts()

        /// The clients that the answer to its status request has yet to list, last first; nil if it made no request.
        var statusRest: [Int]?

        var isInOutbox = false
        /// Whether it is in the list of clients to serve next.
        var isReady = false
        /// Nil while it is read.
        var pause: Pause?
        var isWritten = false
        /// The poll has its descriptor.
        var isWatched = true
    }

    /// How long nothing is read from it, so its frames wait in its own process.
    enum Pause: Equatable {
        /// It posts too fast.
        case until(UInt64)
        /// It does not read the replies that wait for it.
        case untilRepliesAreWritten
    }

    enum Phase {
        case open
        /// It has stopped reading, so nothing is written to it. Frames that it wrote before are still served.
        case writeClosed
        /// Nothing more is read from it; it is closed when its outbound buffer is written.
        case ending
        case closed
    }

    init(number: Int, socket: LocalSocket, process: Int32, limits: ServerLimits, now: UInt64) {
        self.number = number
        self.socket = socket
        descriptor = socket.descriptor
        self.process = process
        connectedAt = now
        self.limits = limits
        state = State(
            outbound: OutboundBuffer(limits: limits.outbound), suspension: SuspensionBuffer(limits: limits),
            bucket: TokenBucket(capacity: limits.postsAtOnce, perSecond: limits.postsPerSecond, now: now))
    }

    var counts: NotificationCounts { state.counts + state.suspension.counts }

    var isClosed: Bool { state.phase == .closed }

    /// Releases the socket and all memory at once, though other clients' routes keep this object for a while.
    func close() {
        state.phase = .closed
        socket = nil
        state.route = nil
        forgetWhatWaits()
        state.decoder = FrameDecoder()
    }

    /// Discards everything that waits for it.
    func forgetWhatWaits() {
        state.outbound = OutboundBuffer(limits: limits.outbound)
        state.suspension.removeAll()
        state.statusRest = nil
    }
}

extension SuspensionBuffer {
    fileprivate init(limits: ServerLimits) {
        self.init(
            entryLimit: limits.heldEntriesPerClient, byteLimit: limits.heldBytesPerClient, overflow: limits.heldOverflow
        )
    }
}
