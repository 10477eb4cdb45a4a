internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The thread of a center that connects, and then receives frames until the connection ends.
///
///     connecting ──welcome──► receiving ──end──► connecting …
///         └──failure──► pause ──┘
struct ConnectionReader {
    private let connection: CenterConnection
    private var delivery: InboundDelivery

    init(_ connection: CenterConnection) {
        self.connection = connection
        delivery = InboundDelivery(connection)
    }

    mutating func run() {
        ThreadIdentity.nameCurrentThread("distributed")
        var pause = connection.pause
        var lastFailure: DistributedError?
        while !isClosed {
            do throws(DistributedError) {
                var server = try connect()
                lastFailure = nil
                let began = SuspendingClock.now
                let end = receive(from: &server)
                connection.state.withLock { $0.lost(server.sender) }
                if isClosed { break }
                connection.post(.interrupted(reason: end.reason))
                // A connection that ends at once may do so again.
                let lasted = began.duration(to: .now) >= .seconds(1)
                if lasted || !end.isRefusal { pause.reset() }
                if !lasted { wait(pause.take()) }
            } catch {
                if isClosed { break }
                connection.state.withLock { $0.failed(error) }
                if lastFailure != error { connection.post(.failed(error)) }
                lastFailure = error
                wait(pause.take())
            }
        }
    }

    private var isClosed: Bool { connection.state.withLock { $0.isClosed } }

    /// Waits until the pause is over or the center is closed.
    private func wait(_ pause: Duration) {
        let deadline = SuspendingClock.Instant.after(pause)
        while !isClosed {
            var descriptor = pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, deadline.millisecondsFromNow) > 0 else {
                // A signal may have ended the wait early.
                if .now < deadline { continue }
                return
            }
            connection.wake.clear()
        }
    }

    // MARK: Connecting

    /// A connection to a server: any thread sends, this one receives.
    private struct Server {
        let sender: FrameSender
        var receiver: FrameReceiver
    }

    /// How long one attempt may take.
    private static let timeout = Duration.seconds(5)

    private func connect() throws(DistributedError) -> Server {
        let path = connection.directory.socketPath
        let deadline = SuspendingClock.Instant.after(Self.timeout)
        var starts = 0
        while true {
            let (socket, hasStarted) = try ServerStart.connect(to: connection.directory, timeout: Self.timeout)
            if hasStarted { starts += 1 }
            var server = Server(sender: FrameSender(socket), receiver: FrameReceiver(socket))
            let suspended = connection.isSuspended
            var hello = FrameWriter()
            hello.hello(suspended: suspended, name: Self.processName)
            // If the server has ended already, its goodbye can still be received.
            _ = server.sender.send(hello.bytes, until: deadline)
            if try isWelcome(&server, until: deadline) {
                guard connection.state.withLock({ $0.connected(server.sender, toldSuspended: suspended) }) else {
                    throw .closed
                }
                connection.sendControl()
                connection.post(.connected(serverProcess: socket.peer?.process ?? 0))
                return server
            }
            // A server that stops ends connections without an answer, and another server may follow it. If the servers
            // that this attempt starts end at once, the next one is started after a pause.
            guard starts < 2 else {
                throw .serverNotStarted(
                    path: path,
                    problem: "it was started \(starts) times and ended before it answered. See what one says in "
                        + "another terminal: \(ServerHandover.programName)")
            }
            guard .now < deadline, !isClosed else { break }
            wait(.milliseconds(5))
        }
        throw .notAnswered("a hello", path: path, timeout: Self.timeout)
    }

    /// - Returns: false if the connection ended without a refusal, so that another attempt may succeed.
    private func isWelcome(
        _ server: inout Server, until deadline: SuspendingClock.Instant
    ) throws(DistributedError) -> Bool {
        while true {
            do throws(WireError) {
                if let frame = try server.receiver.next() {
                    switch try InboundFrame(frame) {
                    case .welcome(let version):
                        guard ProtocolVersions.supported.contains(version) else { throw .version(version) }
                        return true
                    case .goodbye(let goodbye) where goodbye.reason == .refused: throw .refused(goodbye.text)
                    case .goodbye: return false
                    default: throw .unknown("answer to hello", frame.kind)
                    }
                }
            } catch {
                throw .serverRefused(path: connection.directory.socketPath, problem: "\(error)")
            }
            switch receiveBytes(&server, until: deadline) {
            case .received: break
            case .ended: return false
            case .empty:
                if .now < deadline, !isClosed { continue }
                throw .notAnswered("a hello", path: connection.directory.socketPath, timeout: Self.timeout)
            }
        }
    }

    private static let processName: String = {
        var name = ProcessInfo.processInfo.processName
        while name.utf8.count > Wire.processNameLimit { name.removeLast() }
        return name
    }()

    // MARK: Receiving

    /// Receives until the connection ends or the center is closed.
    ///
    /// - Returns: why the connection ended, and whether the server refused this process or cannot be understood.
    private mutating func receive(from server: inout Server) -> (reason: String, isRefusal: Bool) {
        var goodbye: Goodbye?
        while true {
            do throws(WireError) {
                while let frame = try server.receiver.next() {
                    switch try InboundFrame(frame) {
                    case .notification(let post): delivery.deliver(post)
                    case .gap(let count, let cause, let observers):
                        delivery.deliverGap(count: count, cause: cause, observers: observers)
                    case .synchronized(let number): connection.state.withLock { $0.endSynchronization(number) }
                    case .goodbye(let said): goodbye = said
                    case .welcome: throw .unknown("kind of frame", frame.kind)
                    }
                }
            } catch {
                server.sender.shutDown()
                return ("the server wrote \(error)", true)
            }
            switch receiveBytes(&server, until: nil) {
            case .received: break
            case .ended(let reason):
                delivery.reportOverflow()
                return (goodbye?.text ?? reason, goodbye?.reason == .refused)
            case .empty:
                if isClosed { return ("the center was closed", false) }
                delivery.reportIfRoom()
            }
        }
    }

    /// Receives what the socket holds; if it is empty, waits for bytes until the deadline. Meanwhile, sends what the
    /// socket had no room for.
    ///
    /// - Returns: `.empty` if the deadline has passed or the reader was woken.
    private func receiveBytes(
        _ server: inout Server, until deadline: SuspendingClock.Instant?
    ) -> FrameReceiver.Outcome {
        var isReadable = false
        while true {
            let outcome = server.receiver.receive(isReadable: isReadable)
            guard case .empty = outcome else { return outcome }
            let events = server.sender.isBlocked ? POLLIN | POLLOUT : POLLIN
            var descriptors = [
                pollfd(fd: server.sender.socket.descriptor, events: Int16(events), revents: 0),
                pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, 2, deadline?.millisecondsFromNow ?? -1) != 0 else { return .empty }
            if descriptors[0].revents & Int16(POLLOUT) != 0 { _ = connection.flush(server.sender) }
            if descriptors[1].revents != 0 {
                connection.wake.clear()
                return .empty
            }
            isReadable = descriptors[0].revents & ~Int16(POLLOUT) != 0
        }
    }
}
