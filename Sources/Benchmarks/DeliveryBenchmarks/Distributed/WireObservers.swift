package import DistributedNotifications
internal import Glibc

/// Connections that count inbound notifications without a center, to measure the server alone.
///
/// Each connection registers one observer and splits its input into frames. One thread reads all connections.
package final class WireObservers {
    private var connections: [Connection] = []
    private let poll: EventPoll
    /// The number of bytes received by `count(until:handled:)`.
    package private(set) var countedBytes = 0

    private final class Connection {
        let socket: LocalSocket
        let decoder = FrameDecoder()

        init(_ socket: LocalSocket) {
            self.socket = socket
        }
    }

    /// Connects to a server and waits until each observer is registered.
    ///
    /// - Throws: `DistributedError` if there is no server, or one answer takes longer than `timeout`.
    package static func registered(
        _ count: Int, name: String, at directory: ServerDirectory, timeout: Duration
    ) throws(DistributedError) -> WireObservers {
        var frames = FrameWriter()
        frames.hello(suspended: false, name: "benchmark")
        frames.frame(.register) {
            $0.integer(UInt32(1))
            $0.integer(SuspensionBehavior.hold.wireValue)
            $0.integer(UInt8(1))
            $0.string(name)
        }
        frames.frame(.synchronize) { $0.integer(UInt64(1)) }
        let bytes = frames.bytes
        return try WireObservers(
            count, path: directory.socketPath, timeout: timeout
        ) { socket, decoder throws(DistributedError) in
            try register(socket, decoder, bytes, directory, timeout)
        }
    }

    /// Connects to a listening socket and sends nothing.
    ///
    /// - Throws: `DistributedError` if no socket listens at the path.
    package convenience init(_ count: Int, path: String, timeout: Duration) throws(DistributedError) {
        try self.init(count, path: path, timeout: timeout) { _, _ in }
    }

    /// - Parameter connected: called with each connection before the next one is made, because a server limits the
    ///   number of connections that have not yet sent hello.
    private init(
        _ count: Int, path: String, timeout: Duration,
        connected: (LocalSocket, FrameDecoder) throws(DistributedError) -> Void
    ) throws(DistributedError) {
        guard let poll = EventPoll() else {
            throw .pathNotUsable(path: path, problem: SystemError.text(errno))
        }
        self.poll = poll
        let deadline = SuspendingClock.now + timeout
        for index in 0..<count {
            guard case .connected(let socket) = try LocalSocket.connect(to: path, until: deadline) else {
                throw .pathNotUsable(path: path, problem: "no process accepts connections there")
            }
            let error = poll.watch(
                socket.descriptor, as: UInt64(index), reading: true, writing: false, isNew: true)
            guard error == 0 else { throw .pathNotUsable(path: path, problem: SystemError.text(error)) }
            let connection = Connection(socket)
            try connected(socket, connection.decoder)
            connections.append(connection)
        }
    }

    private static func register(
        _ socket: LocalSocket, _ decoder: FrameDecoder, _ frames: [UInt8], _ directory: ServerDirectory,
        _ timeout: Duration
    ) throws(DistributedError) {
        let deadline = SuspendingClock.now + timeout
        // The buffer of a new connection has room for these few bytes.
        guard send(socket.descriptor, frames, frames.count, Int32(MSG_NOSIGNAL)) == frames.count else {
            throw .serverRefused(path: directory.socketPath, problem: "it ended the connection")
        }
        while true {
            do throws(WireError) {
                while let frame = try decoder.next() {
                    switch FrameKind(rawValue: frame.kind) {
                    case .synchronized: return
                    case .goodbye:
                        var reader = WireReader(frame.payload)
                        throw WireError.refused(try Goodbye(&reader).text)
                    default: break
                    }
                }
            } catch {
                throw .serverRefused(path: directory.socketPath, problem: "\(error)")
            }
            let space = decoder.space()
            let count = recv(socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                decoder.received(count)
                continue
            }
            guard count < 0, errno == EAGAIN || errno == EINTR else {
                throw .serverRefused(path: directory.socketPath, problem: "it ended the connection")
            }
            var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = deadline.millisecondsFromNow
            guard milliseconds > 0 else {
                throw .notAnswered("a registration", path: directory.socketPath, timeout: timeout)
            }
            _ = Glibc.poll(&descriptor, 1, milliseconds)
        }
    }

    /// Counts, on the calling thread, until a descriptor can be read or a connection ends.
    ///
    /// - Parameters:
    ///   - end: the descriptor.
    ///   - handled: called for each read with the index of the connection, the number of notifications, and the number
    ///     of notifications that the server reports as missed.
    package func count(until end: Int32, handled: (_ observer: Int, _ count: Int, _ missed: Int) -> Void) {
        guard poll.watch(end, as: UInt64.max, reading: true, writing: false, isNew: true) == 0 else { return }
        var isOver = false
        while !isOver {
            for index in 0..<poll.wait(milliseconds: -1) {
                let number = Int(clamping: poll[index].number)
                if number >= connections.count || !read(number, handled) { isOver = true }
            }
        }
    }

    /// - Returns: false if the connection has ended.
    private func read(_ number: Int, _ handled: (_ observer: Int, _ count: Int, _ missed: Int) -> Void) -> Bool {
        let connection = connections[number]
        let space = connection.decoder.space()
        let count = recv(connection.socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        connection.decoder.received(count)
        countedBytes += count
        guard let (notifications, missed) = try? Self.take(connection.decoder) else { return false }
        if notifications + missed > 0 { handled(number, notifications, missed) }
        return true
    }

    private static func take(_ decoder: FrameDecoder) throws(WireError) -> (notifications: Int, missed: Int) {
        var (notifications, missed) = (0, 0)
        while let frame = try decoder.next() {
            if frame.kind == FrameKind.notification.rawValue {
                notifications += 1
            } else if frame.kind == FrameKind.gap.rawValue {
                var reader = WireReader(frame.payload)
                _ = try reader.integer(UInt8.self)
                missed += Int(clamping: try reader.integer(UInt64.self))
            }
        }
        return (notifications, missed)
    }
}
