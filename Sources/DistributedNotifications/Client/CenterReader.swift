internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The thread of a center: it does what `CenterState` says, and receives while it is connected.
struct CenterReader {
    private let connection: CenterConnection
    private var delivery: InboundDelivery
    /// Between two connections: those of the next post.
    private var numbers = PostNumbers()

    init(_ connection: CenterConnection) {
        self.connection = connection
        delivery = InboundDelivery(connection)
    }

    mutating func run() {
        ThreadIdentity.nameCurrentThread("distributed")
        while !isClosed {
            let (pause, event) = connectAndReceive()
            if let event { connection.post(event) }
            wait(until: .after(pause))
        }
    }

    private var isClosed: Bool { connection.state.withLock { $0.isClosed } }

    /// Waits until the deadline, or until the center is closed.
    private func wait(until deadline: SuspendingClock.Instant) {
        while !isClosed, .now < deadline {
            var descriptor = pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, deadline.millisecondsFromNow) > 0 else { continue }
            connection.wake.clear()
        }
    }

    private mutating func connectAndReceive() -> (pause: Duration, event: ConnectionEvent?) {
        do throws(DistributedError) {
            let socket = try ServerStart.connect(to: connection.directory, timeout: Wire.connectTimeout)
            var server = ServerConnection(connection.sender(over: socket, numbers), wake: connection.wake)
            guard try isWelcome(&server) else { return connection.state.withLock { $0.failed(nil) } }
            let (reason, isRefusal) = receive(from: &server)
            numbers = server.sender.end()
            delivery.connectionEnded()
            return connection.state.withLock { $0.ended(reason: reason, isRefusal: isRefusal) }
        } catch {
            return connection.state.withLock { $0.failed(error) }
        }
    }

    /// Says hello, and waits for the answer.
    /// - Returns: false if the center was closed, or the connection ended without a refusal, as that of a server that
    ///   stops. Another server may follow it.
    private mutating func isWelcome(_ server: inout ServerConnection) throws(DistributedError) -> Bool {
        let (connection, sender) = (connection, server.sender)
        let suspended = connection.isSuspended
        // 63 scalars are 252 bytes at most.
        let name = ProcessInfo.processInfo.processName.unicodeScalars.prefix(63)
        var hello = FrameWriter()
        hello.hello(suspended: suspended, name: String(String.UnicodeScalarView(name)))
        return try server.ask(
            "a hello", hello, path: connection.directory.socketPath, timeout: Wire.connectTimeout
        ) { input throws(WireError) in
            switch input {
            case .welcome:
                let isOpen = connection.state.withLock { $0.connected(sender, toldSuspended: suspended) }
                guard isOpen else { return false }
                connection.sendControl()
                connection.post(.connected(serverProcess: sender.socket.peer?.process ?? 0))
                return true
            case .goodbye(let goodbye) where goodbye.reason == .refused: throw .refused(goodbye.text)
            case .goodbye, .ended: return false
            case .woken: return connection.state.withLock { $0.isClosed } ? false : nil
            default: throw .outOfTurn(.welcome)
            }
        }
    }

    /// Receives until the connection ends or the center is closed.
    /// - Returns: why the connection ended, and whether the server refused this process or cannot be understood.
    private mutating func receive(from server: inout ServerConnection) -> (reason: String, isRefusal: Bool) {
        let connection = connection
        var goodbye: Goodbye?
        do throws(WireError) {
            while true {
                switch try server.next() {
                case .notification(let post): delivery.deliver(post)
                case .gap(let gap): delivery.report(gap)
                case .synchronized(let number): connection.state.withLock { $0.serverAnswered(number) }
                case .goodbye(let said): goodbye = said
                case .welcome: throw .outOfTurn(.welcome)
                case .statusPart: throw .outOfTurn(.statusPart)
                case .ended(let reason):
                    return (goodbye?.text ?? reason, goodbye?.reason == .refused)
                case .woken: if isClosed { return ("the center was closed", false) }
                }
            }
        } catch {
            server.sender.shutDown()
            return ("the server wrote \(error)", true)
        }
    }
}
