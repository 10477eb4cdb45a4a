internal import DistributedNotifications
internal import Glibc

/// What the server knows of one process. The serving thread's alone.
//
// What is touched for every post is not checked for exclusive access at run time: it is one thread's, and no property is
// used while another use of it goes on.
final class ServerConnection {
    /// Ever increasing, in the order in which processes connected.
    let number: Int
    /// Nil once it is closed: routes of other connections keep this object for a while.
    private(set) var socket: LocalSocket?
    /// The socket's.
    let descriptor: Int32
    let process: Int32
    let connectedAt: UInt64
    private let limits: ServerLimits
    /// As it calls itself; nil before its hello.
    var name: String?

    @exclusivity(unchecked) var decoder = FrameDecoder()
    @exclusivity(unchecked) var queue: LiveQueue
    @exclusivity(unchecked) var suspension: SuspensionBuffer<HeldNotification>
    @exclusivity(unchecked) var bucket: TokenBucket
    /// The observers of what it posted last.
    @exclusivity(unchecked) var route: Route?

    @exclusivity(unchecked) var posted = 0
    @exclusivity(unchecked) var delivered = 0
    var dropped = 0

    /// The clients, last first, that it asked about and was not told of; nil: it asked nothing.
    var statusRest: [Int]?

    /// Something was put into the queue in this turn.
    @exclusivity(unchecked) var isToBeWritten = false
    /// It is among those whose frames are served next.
    @exclusivity(unchecked) var isReady = false
    /// What the poll watches for.
    var isRead = true
    var isWritten = false
    /// It is not read before then.
    var pausedUntil: UInt64?
    /// It has ended, and reads nothing more. What it wrote before is still served.
    var isDeaf = false
    /// The poll has its descriptor.
    var isWatched = true
    /// Nothing more is read from it; it is closed when what waits is written.
    var isEnding = false
    var isClosed: Bool { socket == nil }

    init(number: Int, socket: LocalSocket, process: Int32, limits: ServerLimits, now: UInt64) {
        self.number = number
        self.socket = socket
        descriptor = socket.descriptor
        self.process = process
        connectedAt = now
        queue = LiveQueue(limits: limits.queue)
        self.limits = limits
        suspension = Self.emptySuspension(limits)
        bucket = TokenBucket(capacity: limits.postsAtOnce, perSecond: limits.postsPerSecond, now: now)
    }

    /// What it held goes at once, though other connections' routes keep this object for a while.
    func close() {
        socket = nil
        route = nil
        forgetWhatWaits()
        decoder = FrameDecoder()
    }

    /// Nobody will read it.
    func forgetWhatWaits() {
        queue = LiveQueue(limits: limits.queue)
        suspension = Self.emptySuspension(limits)
        statusRest = nil
    }

    private static func emptySuspension(_ limits: ServerLimits) -> SuspensionBuffer<HeldNotification> {
        SuspensionBuffer(
            entryLimit: limits.heldEntriesPerClient, byteLimit: limits.heldBytesPerClient, overflow: limits.heldOverflow
        )
    }

    /// What observes notifications with one name and object.
    struct Route {
        /// Name and object, as in the payload, after the flags.
        var head: [UInt8]
        var hasObject: Bool
        /// The table's when they were looked up.
        var version: UInt64
        var legs: [Leg]

        func isOf(_ posted: PostedPayload, _ payload: UnsafeRawBufferPointer, version: UInt64) -> Bool {
            guard version == self.version, posted.headCount - 1 == head.count, hasObject == (posted.object != nil)
            else {
                return false
            }
            guard let start = payload.baseAddress else { return false }
            return head.withUnsafeBytes { bytes in
                bytes.baseAddress.map { memcmp($0, start + 1, bytes.count) == 0 } ?? false
            }
        }
    }

    struct Leg {
        var client: ServerConnection
        var owed: [Owed]
    }
}

/// A notification that is held for suspended processes; they share its bytes.
struct HeldNotification: HeldPost {
    var key: PostKey
    var sender: Int32
    var payload: [UInt8]

    var byteCount: Int { payload.count }

    /// The one that was made, or now is.
    static func shared(
        _ made: inout HeldNotification?, _ posted: PostedPayload, _ payload: UnsafeRawBufferPointer, sender: Int32
    ) -> HeldNotification {
        if let made { return made }
        let new = HeldNotification(
            key: PostKey(name: ByteString(posted.name), object: posted.object.map { ByteString($0) }), sender: sender,
            payload: Array(payload))
        made = new
        return new
    }
}

extension ServerLimits {
    var queue: LiveQueue.Limits {
        LiveQueue.Limits(
            soft: softQueueBytes, softTime: softQueueTimeout.nanoseconds, hard: hardQueueBytes,
            held: heldBytesPerClient,
            progressTime: progressTimeout.nanoseconds)
    }
}

extension Duration {
    /// Zero if it is negative; of more than 30 years, 30 years.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(1_000_000_000)).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
