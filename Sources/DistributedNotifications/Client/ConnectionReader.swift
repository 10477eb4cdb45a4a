internal import CLinux
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// The thread of a center that connects, reads what the server writes, and hands it to the observers' mailboxes.
///
///     connecting ──welcome──► reading ──end──► connecting …
///         └──failure──► waiting for a moment ──┘
struct ConnectionReader {
    private let connection: CenterConnection
    /// What did not fit and is not shown yet.
    private var missed = MissedArrivals()
    /// What could not be read and is not shown yet.
    private var unreadable = MissedArrivals()
    private var lastFailure: DistributedError?

    init(_ connection: CenterConnection) {
        self.connection = connection
    }

    mutating func run() {
        ThreadIdentity.nameCurrentThread("distributed")
        var pause = connection.pause
        while !connection.state.withLock({ $0.isClosed }) {
            let (link, decoder): (Link, Decoder)
            do throws(DistributedError) {
                (link, decoder) = try connect()
            } catch {
                if connection.state.withLock({ $0.isClosed }) { break }
                connection.state.withLock { $0.failed(error) }
                if lastFailure != error { connection.post(.failed(error)) }
                lastFailure = error
                wait(pause.take())
                continue
            }
            lastFailure = nil
            let began = ContinuousClock.now
            let end = read(link, decoder)
            connection.state.withLock { $0.lost(link) }
            if connection.state.withLock({ $0.isClosed }) { break }
            connection.post(.interrupted(reason: end.reason))
            // What ends at once may do so again.
            let lasted = began.duration(to: .now) >= .seconds(1)
            if lasted || !end.isRefusal { pause.reset() }
            if !lasted { wait(pause.take()) }
        }
    }

    /// Until the pause is over, or the center is closed.
    private func wait(_ pause: Duration) {
        let deadline = ContinuousClock.Instant.after(pause)
        while !connection.state.withLock({ $0.isClosed }) {
            var descriptor = pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, deadline.millisecondsFromNow) > 0 else {
                // A signal handler may have run.
                if .now < deadline { continue }
                return
            }
            connection.wake.clear()
        }
    }

    // MARK: Connecting

    private final class Decoder {
        @exclusivity(unchecked) var frames = FrameDecoder(capacity: 256 << 10)
        /// The last bytes that came took all the space.
        var wasFilled = false
    }

    /// Why a connection ended, and whether the server did not want it, or cannot be understood.
    private typealias End = (reason: String, isRefusal: Bool)

    /// How long one attempt may take.
    private static let limit = Duration.seconds(5)

    private func connect() throws(DistributedError) -> (Link, Decoder) {
        let deadline = ContinuousClock.Instant.after(Self.limit)
        var starts = 0
        while true {
            let (socket, hasStarted) = try ServerStart.connect(to: connection.place, limit: Self.limit)
            if hasStarted { starts += 1 }
            let suspended = connection.state.withLock { $0.isSuspended }
            var hello = FrameWriter()
            hello.hello(suspended: suspended, name: Self.processName)
            let link = Link(socket, serverProcess: socket.peer?.process ?? 0)
            let decoder = Decoder()
            // A server that refuses may have ended before it was written to; what it said is there all the same.
            _ = link.write(hello.bytes, until: deadline)
            if try isWelcome(link, decoder, until: deadline) {
                if connection.state.withLock({ $0.connected(link, saidSuspended: suspended) }) {
                    connection.tell()
                    connection.post(.connected(serverProcess: link.serverProcess))
                    return (link, decoder)
                }
                throw .closed
            }
            // The server ended before it answered, for example because it was about to stop: there may be another. If
            // each server that this attempt starts ends at once, the next is started after a pause.
            guard starts < 2 else {
                throw .serverNotStarted(
                    path: connection.place.socketPath,
                    problem: "it was started \(starts) times and ended before it answered. See what one says in "
                        + "another terminal: \(ServerHandover.programName)")
            }
            guard .now < deadline, !connection.state.withLock({ $0.isClosed }) else { break }
            wait(.milliseconds(5))
        }
        throw .notAnswered(what: "hello at \(connection.place.socketPath)", after: Self.limit)
    }

    /// - Returns: false if the connection ended, and another may be better.
    private func isWelcome(
        _ link: Link, _ decoder: Decoder, until deadline: ContinuousClock.Instant
    ) throws(DistributedError) -> Bool {
        while true {
            do throws(WireError) {
                if let frame = try decoder.frames.next() {
                    var reader = WireReader(frame.payload)
                    switch FrameKind(rawValue: frame.kind) {
                    case .welcome:
                        let version = try reader.integer(UInt16.self)
                        guard version == Wire.version else { throw .version(version) }
                        return true
                    case .bye:
                        let bye = try Bye(&reader)
                        guard bye.reason == .refused else { return false }
                        throw .refused(bye.text)
                    default: throw .unknown("answer to hello", frame.kind)
                    }
                }
            } catch {
                throw .serverRefused(path: connection.place.socketPath, reason: "\(error)")
            }
            switch receive(link, decoder, until: deadline) {
            case .bytes: break
            case .end: return false
            case .nothing:
                // The reader was woken: the center may be closed.
                if .now < deadline, !connection.state.withLock({ $0.isClosed }) { continue }
                throw .notAnswered(what: "hello at \(connection.place.socketPath)", after: Self.limit)
            }
        }
    }

    private static let processName: String = {
        var name = ProcessInfo.processInfo.processName
        while name.utf8.count > Wire.processNameLimit { name.removeLast() }
        return name
    }()

    // MARK: Reading

    private enum Received {
        case bytes
        case end(String)
        /// Not in time.
        case nothing
    }

    private func receive(_ link: Link, _ decoder: Decoder, until deadline: ContinuousClock.Instant?) -> Received {
        // After less came than fits there is nothing more yet: to ask would be a call in vain.
        var mayHaveCome = decoder.wasFilled
        while true {
            let space = decoder.frames.space()
            var count = -1
            if mayHaveCome {
                count = recv(link.socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            } else {
                errno = EAGAIN
            }
            mayHaveCome = true
            if count > 0 {
                decoder.wasFilled = count == space.count
                decoder.frames.received(count)
                return .bytes
            }
            if count == 0 { return .end("the server ended") }
            if errno == EINTR { continue }
            guard errno == EAGAIN else {
                return .end(errno == ECONNRESET ? "the server ended" : String(cString: strerror(errno)))
            }
            let events = link.isBlocked ? POLLIN | POLLOUT : POLLIN
            var descriptors = [
                pollfd(fd: link.socket.descriptor, events: Int16(events), revents: 0),
                pollfd(fd: connection.wake.number, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&descriptors, 2, deadline?.millisecondsFromNow ?? -1) != 0 else { return .nothing }
            if descriptors[0].revents & Int16(POLLOUT) != 0 { _ = connection.flush(link) }
            if descriptors[1].revents != 0 {
                connection.wake.clear()
                return .nothing
            }
        }
    }

    private mutating func read(_ link: Link, _ decoder: Decoder) -> End {
        var bye: Bye?
        while true {
            do throws(WireError) {
                while let frame = try decoder.frames.next() {
                    if let said = try take(frame) { bye = said }
                }
            } catch {
                link.shutDown()
                return ("the server wrote \(error)", true)
            }
            switch receive(link, decoder, until: nil) {
            case .bytes: break
            case .end(let why):
                showMissed()
                return (bye?.text ?? why, bye?.reason == .refused)
            case .nothing:
                if connection.state.withLock({ $0.isClosed }) { return ("it was closed", false) }
                if connection.waiting.takeRoom() {
                    showMissed()
                    showUnreadable()
                }
            }
        }
    }

    /// - Returns: what the server says at its end.
    private mutating func take(_ frame: Frame) throws(WireError) -> Bye? {
        var reader = WireReader(frame.payload)
        switch FrameKind(rawValue: frame.kind) {
        case .notification:
            try takeNotification(&reader)
        case .gap:
            try takeGap(&reader)
        case .synchronized:
            let number = try reader.integer(UInt64.self)
            connection.state.withLock { $0.synchronized(number) }
        case .bye:
            return try Bye(&reader)
        default:
            throw .unknown("kind of frame", frame.kind)
        }
        return nil
    }

    private mutating func takeNotification(_ reader: inout WireReader) throws(WireError) {
        let sender = Int32(bitPattern: try reader.integer(UInt32.self))
        let count = Int(try reader.integer(UInt16.self))
        var numbers = WireReader(try reader.take(4 * count))
        let payload = reader.rest()
        let posted = try PostedPayload(payload)
        let owed = try observers(count, &numbers)
        // They were removed while it was on its way.
        guard !owed.isEmpty else { return }
        var userInfo: [String: PropertyListValue]?
        var nodes = 0
        if posted.flags & PostedPayload.hasUserInfo != 0 {
            guard let decoded = try? PropertyListScanner.decode(posted.userInfo) else {
                unreadable.count(owed)
                return showUnreadable()
            }
            (userInfo, nodes) = (decoded.value, decoded.nodes)
        }
        let size = Arrival.size(bytes: payload.count, values: nodes)
        guard missed.isEmpty || connection.waiting.takeRoom(), connection.waiting.take(size) else {
            missed.count(owed)
            return
        }
        if !missed.isEmpty { showMissed() }
        let name = Notification.Name(String(decoding: posted.name, as: UTF8.self))
        let arrival = Arrival(
            DistributedNotification(
                name: name, object: posted.object.map { String(decoding: $0, as: UTF8.self) }, userInfo: userInfo,
                sender: sender),
            size: size, of: connection.waiting)
        _ = connection.observers.post(Notification(name: name, object: arrival), only: owed)
    }

    private func observers(_ count: Int, _ numbers: inout WireReader) throws(WireError) -> [ObserverToken] {
        var wanted: [UInt32] = []
        for _ in 0..<count { wanted.append(try numbers.integer(UInt32.self)) }
        return connection.state.withLock { state in wanted.compactMap { state.observers[$0]?.token } }
    }

    private func takeGap(_ reader: inout WireReader) throws(WireError) {
        let wireCause = try reader.integer(UInt8.self)
        guard let cause = NotificationGap.Cause(wireValue: wireCause) else {
            throw .unknown("cause of a gap", wireCause)
        }
        let posts = try reader.integer(UInt64.self)
        var gap = NotificationGap(count: Int(clamping: posts), cause: cause)
        for _ in 0..<(try reader.integer(UInt16.self)) {
            let number = try reader.integer(UInt32.self)
            let count = Int(clamping: try reader.integer(UInt64.self))
            if let token = connection.state.withLock({ $0.observers[number]?.token }) {
                gap.observers[token.id] = count
            }
        }
        connection.post(.gap(gap))
    }

    /// Anybody may post what cannot be read, as often as he likes, so showing it counts as waiting too.
    private mutating func showUnreadable() {
        guard !unreadable.isEmpty, connection.waiting.take(EventBox.size) else { return }
        connection.post(
            .gap(NotificationGap(count: unreadable.count, cause: .unreadable, observers: unreadable.observers)),
            of: connection.waiting)
        unreadable = MissedArrivals()
    }

    private mutating func showMissed() {
        guard !missed.isEmpty else { return }
        connection.post(.gap(NotificationGap(count: missed.count, cause: .waiting, observers: missed.observers)))
        missed = MissedArrivals()
    }
}

/// What did not fit into what may wait in this process.
private struct MissedArrivals {
    var count = 0
    var observers: [UInt64: Int] = [:]

    var isEmpty: Bool { count == 0 }

    mutating func count(_ owed: [ObserverToken]) {
        count += 1
        for token in owed { observers[token.id, default: 0] += 1 }
    }
}
