internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// Accepts processes, and stops for a moment when there is no descriptor left.
final class Listener {
    /// Nil once the server does not listen any more.
    private var socket: LocalSocket?
    private let poll: EventPoll
    /// Closed to accept one more process when there is no descriptor left.
    private var spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    /// When it accepts again, if it does not.
    private(set) var acceptsAt: UInt64?

    /// The number under which the poll watches the socket. Clients have higher ones.
    static let pollNumber: UInt64 = 0
    /// Neither a full buffer nor a connection that has ended holds the server up.
    static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

    /// - Returns: nil if the poll cannot watch the socket.
    init?(_ socket: LocalSocket, poll: EventPoll) {
        self.socket = socket
        self.poll = poll
        if poll.watch(socket.descriptor, as: Self.pollNumber, reading: true, writing: false, isNew: true) != 0 {
            return nil
        }
    }

    deinit {
        Glibc.close(spareDescriptor)
    }

    var isListening: Bool { socket != nil }

    /// The next process that waits; nil if there is none at the moment.
    /// - Returns: `isLast` if there is no descriptor left. It has to be refused, and further ones are not accepted for a
    ///   while, in which the clients are served.
    func accept(now: UInt64) -> (socket: LocalSocket, isLast: Bool)? {
        guard let socket, acceptsAt == nil else { return nil }
        if let accepted = socket.accept() { return (accepted, false) }
        guard errno == EMFILE || errno == ENFILE else { return nil }
        acceptsAt = now &+ ServerLimits.descriptorPause.nanoseconds
        _ = poll.watch(socket.descriptor, as: Self.pollNumber, reading: false, writing: false)
        Glibc.close(spareDescriptor)
        spareDescriptor = -1
        return socket.accept().map { ($0, true) }
    }

    /// Accepts again if its pause is over.
    func resume(now: UInt64) {
        guard let socket, let acceptsAt, now >= acceptsAt else { return }
        self.acceptsAt = nil
        if spareDescriptor < 0 { spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC) }
        _ = poll.watch(socket.descriptor, as: Self.pollNumber, reading: true, writing: false)
    }

    /// Stops listening. Processes that connected before are told.
    func close() {
        guard let socket else { return }
        while let accepted = socket.accept() { Self.sendGoodbye(.stopping, "it stops", over: accepted) }
        poll.unwatch(socket.descriptor)
        (self.socket, acceptsAt) = (nil, nil)
    }

    /// A goodbye to a process that is no client, written if its socket takes it at once.
    static func sendGoodbye(_ reason: GoodbyeReason, _ text: String, over socket: LocalSocket) {
        var writer = FrameWriter()
        writer.frame(.goodbye) { $0.goodbye(reason, text) }
        _ = send(socket.descriptor, writer.bytes, writer.bytes.count, sendFlags)
    }
}
