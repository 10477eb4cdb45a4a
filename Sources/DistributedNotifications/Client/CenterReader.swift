internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The thread of a center: it does what `CenterState` says, and receives while it is connected.
struct CenterReader {
    private let connection: CenterConnection
    private var delivery: InboundDelivery

    init(_ connection: CenterConnection) {
        self.connection = connection
        delivery = InboundDelivery(connection)
    }

    mutating func run() {
        ThreadIdentity.nameCurrentThread("distributed")
        var step = CenterState.Step.connect
        while true {
            switch step {
            case .stop: return
            case .pause(let pause):
                wait(until: .after(pause))
                step = connection.state.withLock { $0.pauseIsOver() }
            case .connect:
                let (next, event) = connectAndReceive()
                step = next
                if let event { connection.post(event) }
            }
        }
    }

    private var isClosed: Bool { connection.state.withLock { $0.isClosed } }

    /// Waits until the deadline, or until the center is closed. Losses that can be reported meanwhile are.
    private mutating func wait(until deadline: SuspendingClock.Instant) {
        while !isClosed {
            var descriptor = pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, deadline.millisecondsFromNow) > 0 else {
                // A signal may have ended the wait early.
                if .now < deadline { continue }
                return
            }
            connection.wake.clear()
            delivery.reportIfRoom()
        }
    }

    private mutating func connectAndReceive() -> (step: CenterState.Step, event: ConnectionEvent?) {
        do throws(DistributedError) {
            var server = try connect()
            let began = SuspendingClock.now
            let (reason, isRefusal) = receive(from: &server)
            let lasted = began.duration(to: .now) >= .seconds(1)
            return connection.state.withLock { $0.ended(reason: reason, lasted: lasted, isRefusal: isRefusal) }
        } catch {
            return connection.state.withLock { $0.failed(error) }
        }
    }

    // MARK: Connecting

    /// How long one attempt may take.
    private static let timeout = Duration.seconds(5)

    private mutating func connect() throws(DistributedError) -> ServerConnection {
        let path = connection.directory.socketPath
        let deadline = SuspendingClock.Instant.after(Self.timeout)
        var starts = 0
        while true {
            let (socket, hasStarted) = try ServerStart.connect(to: connection.directory, timeout: Self.timeout)
            if hasStarted { starts += 1 }
            var server = ServerConnection(socket)
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
                    problem:
                        "it was started \(starts) times and ended before it answered. See what one says in another "
                        + "terminal: \(ServerHandover.programName)")
            }
            guard .now < deadline, !isClosed else { break }
            wait(until: .after(.milliseconds(5)))
        }
        throw .notAnswered("a hello", path: path, timeout: Self.timeout)
    }

    /// - Returns: false if the connection ended without a refusal, so that another attempt may succeed.
    private mutating func isWelcome(
        _ server: inout ServerConnection, until deadline: SuspendingClock.Instant
    ) throws(DistributedError) -> Bool {
        while true {
            do throws(WireError) {
                switch try server.next(until: deadline, wake: connection.wake) {
                case .frame(.welcome(let version)):
                    guard ProtocolVersions.supported.contains(version) else { throw .version(version) }
                    return true
                case .frame(.goodbye(let goodbye)) where goodbye.reason == .refused: throw .refused(goodbye.text)
                case .frame(.goodbye), .ended: return false
                case .frame: throw .outOfTurn(.welcome)
                case .woken where !isClosed: delivery.reportIfRoom()
                case .woken, .timedOut: break
                }
            } catch {
                throw .serverRefused(path: connection.directory.socketPath, problem: "\(error)")
            }
            if isClosed || .now >= deadline {
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
    /// - Returns: why the connection ended, and whether the server refused this process or cannot be understood.
    private mutating func receive(from server: inout ServerConnection) -> (reason: String, isRefusal: Bool) {
        let (connection, sender) = (connection, server.sender)
        var goodbye: Goodbye?
        while true {
            do throws(WireError) {
                switch try server.next(
                    until: nil, wake: connection.wake, flush: { sender.flush { connection.takeControl(of: sender) } })
                {
                case .frame(.notification(let post)): delivery.deliver(post)
                case .frame(.gap(let count, let cause, let observers)):
                    delivery.deliverGap(count: count, cause: cause, observers: observers)
                case .frame(.synchronized(let number)): connection.state.withLock { $0.serverAnswered(number) }
                case .frame(.goodbye(let said)): goodbye = said
                case .frame(.welcome), .frame(.statusPart): throw .outOfTurn(.welcome)
                case .ended(let reason):
                    delivery.reportOverflow()
                    return (goodbye?.text ?? reason, goodbye?.reason == .refused)
                case .woken, .timedOut:
                    if isClosed { return ("the center was closed", false) }
                    delivery.reportIfRoom()
                }
            } catch {
                sender.shutDown()
                return ("the server wrote \(error)", true)
            }
        }
    }
}
