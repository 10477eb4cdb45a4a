internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// A connection to a server. Any thread sends through `sender`; one thread receives.
struct ServerConnection {
    let sender: FrameSender
    private let wake: EventDescriptor?
    private let decoder = FrameDecoder(capacity: 256 << 10)
    /// The last read filled all space, or the socket is readable.
    private var mayHoldMore = false

    /// - Parameter wake: ends a wait when it is ready.
    init(_ sender: FrameSender, wake: EventDescriptor? = nil) { (self.sender, self.wake) = (sender, wake) }

    /// The next frame; `woken` if none is complete yet, after something has happened or the time has passed. Also
    /// sends the bytes of the sender that wait when the socket has room for them.
    /// - Parameter milliseconds: the longest wait; -1: without a timeout.
    mutating func next(within milliseconds: Int32 = -1) throws(WireError) -> ServerInput {
        if let frame = try decoder.next() { return try ServerInput(frame) }
        if !mayHoldMore { wait(milliseconds) }
        if mayHoldMore, let end = receive() { return .ended(end) }
        return .woken
    }

    /// Sends a request, and calls `handle` with what is received until it returns the answer.
    /// - Throws: `.serverRefused` with the problem that it throws, or `.notAnswered`.
    mutating func ask<Answer>(
        _ name: String, _ request: FrameWriter, path: String, timeout: Duration,
        _ handle: (ServerInput) throws(WireError) -> Answer?
    ) throws(DistributedError) -> Answer {
        let deadline = SuspendingClock.Instant.after(timeout)
        // If the server has ended already, its goodbye can still be received.
        _ = sender.send(request.bytes, until: deadline)
        do throws(WireError) {
            while .now < deadline {
                if let answer = try handle(try next(within: deadline.millisecondsFromNow)) { return answer }
            }
        } catch {
            throw .serverRefused(path: path, problem: "\(error)")
        }
        throw .notAnswered(name, path: path, timeout: timeout)
    }

    private mutating func wait(_ milliseconds: Int32) {
        let events = sender.isBlocked ? POLLIN | POLLOUT : POLLIN
        var descriptors = [
            pollfd(fd: sender.socket.descriptor, events: Int16(events), revents: 0),
            pollfd(fd: wake?.number ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&descriptors, 2, milliseconds) > 0 else { return }
        if descriptors[0].revents & Int16(POLLOUT) != 0 { sender.flush() }
        if descriptors[1].revents != 0 { wake?.clear() }
        mayHoldMore = descriptors[0].revents & ~Int16(POLLOUT) != 0
    }

    /// Receives the bytes that the socket holds.
    /// - Returns: why the connection has ended.
    private mutating func receive() -> String? {
        let space = decoder.space()
        let count = recv(sender.socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
        mayHoldMore = count == space.count
        if count > 0 {
            decoder.received(count)
            return nil
        }
        let error = count == 0 ? ECONNRESET : errno
        if error == EINTR || error == EAGAIN { return nil }
        return error == ECONNRESET ? "the server ended" : SystemError.text(error)
    }
}

/// What comes from a server: a decoded frame, whose bytes are valid until the next one, or another end of the wait.
package enum ServerInput {
    /// The connection ended, with a reason.
    case ended(String)
    /// No frame has been received yet.
    case woken
    case welcome
    case notification(InboundPost)
    case gap(NotificationGap)
    case synchronized(UInt64)
    case statusPart(hasMore: Bool, UnsafeRawBufferPointer)
    case goodbye(Goodbye)

    package init(_ frame: Frame) throws(WireError) {
        var reader = WireReader(frame.payload)
        switch FrameKind(rawValue: frame.kind) {
        case .welcome: self = .welcome
        case .notification: self = .notification(try InboundPost(&reader))
        case .gap:
            let name = try reader.string(limit: Wire.nameLimit)
            guard let cause = NotificationGap.Cause(rawValue: name) else { throw .unknown("cause of a gap", name) }
            self = .gap(NotificationGap(count: Int(clamping: try reader.integer(UInt64.self)), cause: cause))
        case .synchronized: self = .synchronized(try reader.integer(UInt64.self))
        case .statusPart: self = .statusPart(hasMore: try reader.integer(UInt8.self) == 1, reader.rest())
        case .goodbye: self = .goodbye(try Goodbye(&reader))
        default: throw .unknown("kind of frame", "\(frame.kind)")
        }
    }
}

/// A notification as the server sends it: its poster, the observers that it matched, and the bytes that were posted.
package struct InboundPost {
    package let sender: Int32
    /// The observers' numbers, 4 bytes each.
    let numbers: UnsafeRawBufferPointer
    package let payload: PostedPayload

    init(_ reader: inout WireReader) throws(WireError) {
        sender = Int32(bitPattern: try reader.integer(UInt32.self))
        numbers = try reader.take(4 * Int(try reader.integer(UInt16.self)))
        payload = try PostedPayload(reader.rest())
    }

    package var observerNumbers: some Sequence<UInt32> {
        stride(from: 0, to: numbers.count, by: 4).lazy.map { [numbers] in
            UInt32(littleEndian: numbers.loadUnaligned(fromByteOffset: $0, as: UInt32.self))
        }
    }
}
