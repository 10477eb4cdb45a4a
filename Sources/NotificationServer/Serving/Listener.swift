internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// Accepts processes, and stops for a moment when there is no descriptor left.
final class Listener {
    /// Nil once the server does not listen any more.
    private var socket: LocalSocket?
    /// Closed to accept, and refuse, one more process when there is no descriptor left.
    private var spareDescriptor: Int32
    /// When it accepts again, if it does not.
    private(set) var acceptsAt: UInt64?
    private let userID = geteuid()

    /// The number under which the poll watches the socket. Clients have higher ones.
    static let pollNumber: UInt64 = 0

    /// - Returns: nil if the poll cannot watch the socket.
    init?(_ socket: LocalSocket, poll: EventPoll) {
        self.socket = socket
        spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard
            poll.watch(socket.descriptor, as: Self.pollNumber, reading: true, writing: false, isNew: true) == 0
        else { return nil }
    }

    deinit {
        Glibc.close(spareDescriptor)
    }

    var isListening: Bool { socket != nil }

    enum Accepted {
        case process(LocalSocket, Int32)
        case refused(process: Int32, reason: String)
        case outOfDescriptors
        /// There is none at the moment.
        case none
    }

    /// The next process that waits. The user of a process is checked before anything of it is read.
    func accept() -> Accepted {
        while let socket {
            guard let accepted = socket.accept() else {
                return errno == EMFILE || errno == ENFILE ? .outOfDescriptors : .none
            }
            guard let peer = accepted.peer else { continue }
            guard peer.user == userID else {
                return refuse(
                    accepted, peer.process, "it belongs to user \(peer.user), and this server to user \(userID)")
            }
            return .process(accepted, peer.process)
        }
        return .none
    }

    func refuse(_ socket: LocalSocket, _ process: Int32, _ reason: String) -> Accepted {
        Outbox.sendGoodbye(.refused, reason, over: socket)
        return .refused(process: process, reason: reason)
    }

    /// Accepts one process with the spare descriptor, and refuses it.
    func refuseOne() -> Accepted {
        Glibc.close(spareDescriptor)
        defer { spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC) }
        guard let accepted = socket?.accept() else { return .none }
        return refuse(
            accepted, accepted.peer?.process ?? 0,
            "the server has no descriptor left. Let some processes end, or raise its limit (ulimit -n)")
    }

    func pause(until time: UInt64, poll: EventPoll) {
        guard let socket else { return }
        acceptsAt = time
        _ = poll.watch(socket.descriptor, as: Self.pollNumber, reading: false, writing: false)
    }

    func resume(poll: EventPoll) {
        guard let socket, acceptsAt != nil else { return }
        acceptsAt = nil
        _ = poll.watch(socket.descriptor, as: Self.pollNumber, reading: true, writing: false)
    }

    /// Stops listening. Processes that connected before are told.
    func close(poll: EventPoll) {
        guard let socket else { return }
        while let accepted = socket.accept() { Outbox.sendGoodbye(.stopping, "it stops", over: accepted) }
        poll.unwatch(socket.descriptor)
        self.socket = nil
    }
}
