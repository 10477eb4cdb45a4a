internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// A process that is connected to the server, with the notifications that wait or are held for it.
///
/// Threads: only the serving thread uses it.
final class ServerClient: CustomStringConvertible {
    /// Why nothing is read from it for now, so that its frames wait in its own process.
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
        /// Its frames are discarded; it is closed when its outbound buffer is written.
        case ending
        case closed
    }

    /// Increases with each process that connects; never used again.
    let number: Int
    /// Nil after it was closed.
    private var socket: LocalSocket?
    let process: Int32
    /// When it is refused if it has not said hello.
    let helloBy: UInt64
    private let limits: ServerLimits

    /// The name from its hello; nil before.
    var name: String?
    /// A kept client's while it is their owner: from the time when it asks for them, even after its connection has
    /// ended.
    var kept: KeptPosts?
    /// What it says of itself.
    var details: [String: PropertyListValue] = [:]
    /// By the numbers that it gave them.
    var observers: [UInt32: ObserverTable.Observer] = [:]
    var phase = Phase.open
    var decoder = FrameDecoder()
    var pause: Pause?
    /// The events for which the poll watches it.
    private var watched = (reading: false, writing: false)
    /// True while it is in the loop's list of clients to serve next.
    var isReady = false
    /// The clients that the answer to its status request has yet to list, last first; nil if it made no request.
    var statusRest: [ServerClient]?

    // Each post reads and changes these several times, and checks of exclusive access would cost more than that. Only
    // the serving thread has them, and none is passed `inout` to a call that reaches it in another way.
    @exclusivity(unchecked) var outbound: OutboundBuffer
    @exclusivity(unchecked) var suspension: Suspension
    @exclusivity(unchecked) var bucket: TokenBucket
    @exclusivity(unchecked) var posted = 0
    @exclusivity(unchecked) var counts = NotificationCounts()
    /// The key of a kept client; nil: an ordinary one.
    @exclusivity(unchecked) var key: String?
    /// True while it is in the router's list of clients to write to.
    @exclusivity(unchecked) var isTouched = false

    init(number: Int, socket: LocalSocket, process: Int32, limits: ServerLimits, now: UInt64) {
        (self.number, self.socket, self.process, self.limits) = (number, socket, process, limits)
        helloBy = now &+ limits.helloTimeout.nanoseconds
        outbound = OutboundBuffer(limits)
        suspension = Suspension(limits)
        bucket = TokenBucket(limits, now: now)
    }

    /// As in the log.
    var description: String { "process \(process)" + (name.map { " (\($0))" } ?? "") }
    var isClosed: Bool { phase == .closed }
    var isServed: Bool { phase == .open || phase == .writeClosed }
    var isSilent: Bool { name == nil && phase == .open }
    /// The answers to its frames go into the buffer too.
    var hasRoomForReplies: Bool { outbound.waiting <= limits.repliesLimit }
    /// The outcomes of all notifications for it.
    var allCounts: NotificationCounts { counts + suspension.counts }

    /// The next time at which something may be due for it.
    var nextDeadline: UInt64 {
        var time = min(outbound.stallsAt ?? .max, isSilent ? helloBy : .max)
        if case .until(let end) = pause { time = min(time, end) }
        return time
    }

    // MARK: The socket

    private var descriptor: Int32 { socket?.descriptor ?? -1 }

    /// Closes the socket, although a kept client's observers remain.
    func close() { (phase, socket) = (.closed, nil) }

    /// Reads the bytes that have arrived. They are discarded once it was refused.
    /// - Returns: the reason if the connection has ended.
    func read() -> String? {
        guard !isClosed, pause == nil, !decoder.hasFrame else { return nil }
        let space = decoder.space()
        let count = recv(descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
        if count == 0 { return decoder.isEmpty ? "it ended" : "it ended within a frame" }
        if count > 0, isServed { decoder.received(count) }
        return count > 0 || errno == EAGAIN || errno == EINTR
            ? nil : "reading failed: \(String(cString: strerror(errno)))"
    }

    /// Neither a full buffer nor a connection that has ended holds the server up.
    static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

    enum Written {
        /// All, or as much as the socket takes.
        case done
        /// All; a gap of so many notifications comes next.
        case gap(Int)
        /// It reads nothing more.
        case ended
    }

    func write(now: UInt64) -> Written {
        while !outbound.isEmpty {
            let count = outbound.withUnwritten { send(descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
            if count >= 0 {
                if let missed = outbound.wrote(count, now: now) { return .gap(missed) }
            } else if errno != EINTR {
                return errno == EAGAIN ? .done : .ended
            }
        }
        return .done
    }

    /// Tells the poll for which events to watch it.
    /// - Returns: false if the system has no room.
    @discardableResult func updatePoll(_ poll: EventPoll) -> Bool {
        let wanted = (reading: pause == nil, writing: !outbound.isEmpty && phase != .writeClosed)
        guard wanted != watched else { return true }
        let isNew = watched == (false, false)
        watched = wanted
        guard wanted == (false, false) else {
            return poll.watch(
                descriptor, as: UInt64(number), reading: wanted.reading, writing: wanted.writing, isNew: isNew)
                == 0
        }
        // The poll would report without end that it has hung up.
        poll.unwatch(descriptor)
        return true
    }

    /// Discards everything that waits for it.
    func forgetWhatWaits() {
        outbound = OutboundBuffer(limits)
        suspension.removeAll()
        statusRest = nil
    }
}
