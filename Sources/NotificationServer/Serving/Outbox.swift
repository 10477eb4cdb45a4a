internal import DistributedNotifications
internal import Glibc

/// Fills the clients' outbound buffers, and writes them to their sockets once in each turn.
struct Outbox {
    /// The clients that have something to be written; see `ServerClient.State.isInOutbox`.
    private var clients: [ServerClient] = []
    private var next = 0
    private let report: (ServerEvent) -> Void
    /// The time of this turn.
    var now: UInt64

    static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

    init(now: UInt64, report: @escaping (ServerEvent) -> Void) {
        self.now = now
        self.report = report
    }

    // MARK: Filling

    @inline(__always)
    mutating func add(_ client: ServerClient) {
        guard !client.state.isInOutbox else { return }
        client.state.isInOutbox = true
        clients.append(client)
    }

    /// Puts a notification into a client's buffer, or counts it as missed.
    @inline(__always)
    mutating func deliver(
        _ payload: UnsafeRawBufferPointer, sender: Int32, observers: [MatchingObserver], to client: ServerClient,
        isHeld: Bool = false
    ) {
        let size = Wire.lengthBytes + 7 + 4 * observers.count + payload.count
        guard client.state.outbound.admits(size, isHeld: isHeld, now: now) else { return miss(observers, client) }
        client.state.counts.delivered += 1
        client.state.outbound.append(size, now: now) { memory in
            memory.storeBytes(of: UInt32(size - Wire.lengthBytes).littleEndian, as: UInt32.self)
            memory.storeBytes(of: FrameKind.notification.rawValue, toByteOffset: 4, as: UInt8.self)
            memory.storeBytes(of: sender.littleEndian, toByteOffset: 5, as: Int32.self)
            memory.storeBytes(of: UInt16(observers.count).littleEndian, toByteOffset: 9, as: UInt16.self)
            var position = memory + 11
            for observer in observers {
                position.storeBytes(of: observer.registration.littleEndian, as: UInt32.self)
                position += 4
            }
            if let start = payload.baseAddress { position.copyMemory(from: start, byteCount: payload.count) }
        }
        add(client)
    }

    private mutating func miss(_ observers: [MatchingObserver], _ client: ServerClient) {
        if client.state.outbound.missedCount == 0 {
            report(.dropping(process: client.process, name: client.state.name ?? ""))
        }
        client.state.outbound.miss(observers)
        client.state.counts.dropped += 1
    }

    mutating func answer(_ client: ServerClient, _ kind: FrameKind, _ body: (inout FrameWriter) -> Void) {
        var writer = FrameWriter()
        writer.frame(kind, body)
        client.state.outbound.append(writer.bytes, now: now)
        add(client)
    }

    mutating func goodbye(_ client: ServerClient, _ reason: GoodbyeReason, _ text: String) {
        var writer = FrameWriter()
        writer.goodbye(reason, text)
        client.state.outbound.append(writer.bytes, now: now)
        add(client)
    }

    /// A goodbye to a process that is no client, written if its socket takes it at once.
    static func sendGoodbye(_ reason: GoodbyeReason, _ text: String, over socket: LocalSocket) {
        var writer = FrameWriter()
        writer.goodbye(reason, text)
        _ = writer.bytes.withUnsafeBytes { send(socket.descriptor, $0.baseAddress, $0.count, sendFlags) }
    }

    // MARK: Writing

    /// The next client to write to; nil at the end of the turn.
    mutating func takeNext() -> ServerClient? {
        guard next < clients.count else {
            clients.removeAll(keepingCapacity: true)
            next = 0
            return nil
        }
        defer { next += 1 }
        clients[next].state.isInOutbox = false
        return clients[next]
    }

    /// Writes what the socket takes at once. When all is written, the client is shown what it missed.
    /// - Returns: false if the client reads nothing more.
    mutating func write(to client: ServerClient) -> Bool {
        while !client.state.outbound.isEmpty {
            let bytes = client.state.outbound.unwritten
            let count = send(client.descriptor, bytes.baseAddress, bytes.count, Self.sendFlags)
            guard count >= 0 else {
                if errno == EINTR { continue }
                return errno == EAGAIN
            }
            guard let missed = client.state.outbound.wrote(count, now: now) else { continue }
            var writer = FrameWriter()
            writer.frame(.gap) { $0.gap(missed, cause: .slow) }
            client.state.outbound.append(writer.bytes, now: now)
            report(.dropped(process: client.process, name: client.state.name ?? "", count: missed.count))
        }
        return true
    }
}

extension FrameWriter {
    mutating func goodbye(_ reason: GoodbyeReason, _ text: String) {
        frame(.goodbye) {
            $0.integer(reason.rawValue)
            $0.string(text)
        }
    }

    mutating func gap(_ missed: MissedPosts, cause: NotificationGap.Cause) {
        integer(cause.wireValue)
        integer(UInt64(missed.count))
        // Of more observers than fit into a frame only the first; the count above is of all.
        let registrations = missed.registrations.prefix(4096)
        integer(UInt16(registrations.count))
        for (registration, count) in registrations {
            integer(registration)
            integer(UInt64(count))
        }
    }
}
