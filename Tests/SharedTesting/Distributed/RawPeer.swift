package import DistributedNotifications
internal import Foundation
internal import Glibc
internal import XCTest

/// The client side of a connection, for a test that writes and reads frames itself. It reads only when a method is
/// called. No method waits longer than the timeout.
package final class RawPeer {
    package let socket: LocalSocket
    private let decoder = FrameDecoder(capacity: 256 << 10)
    private var lastSynchronization: UInt64 = 0
    private var peeked: Received?
    package static let limit = TestTimeout.hang

    package enum Problem: Error {
        case late
        case wrote(Int32)
        case kind(UInt8)
        case ended(Received)
    }

    package enum Received: Equatable {
        case frame(FrameKind, [UInt8])
        /// The connection has ended.
        case end
    }

    /// A notification from the server.
    package struct Delivered: Equatable {
        package var sender: Int32
        package var registrations: [UInt32]
        package var payload: [UInt8]

        /// The number that `post(…, number:)` wrote.
        package var number: Int? {
            guard payload.count >= 8 else { return nil }
            return payload.suffix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
    }

    package struct Gap: Equatable {
        package var cause: NotificationGap.Cause
        package var count: Int
        package var registrations: [UInt32: Int]

        package init(cause: NotificationGap.Cause, count: Int, registrations: [UInt32: Int]) {
            (self.cause, self.count, self.registrations) = (cause, count, registrations)
        }
    }

    /// Connects, without starting a server.
    /// - Parameters:
    ///   - name: the name in its hello; nil: it does not send hello.
    ///   - observing: a name that it observes with number 1, once this returns.
    package init(
        _ directory: ServerDirectory, name: String? = "raw", suspended: Bool = false, observing: String? = nil
    ) throws {
        guard let socket = try ServerStart.connectIfServed(directory, timeout: Self.limit) else {
            throw Problem.wrote(ECONNREFUSED)
        }
        self.socket = socket
        guard let name else { return }
        var hello = FrameWriter()
        hello.hello(suspended: suspended, name: name)
        try write(hello.bytes)
        let answer = try next()
        guard case .frame(.welcome, _) = answer else { throw Problem.ended(answer) }
        guard let observing else { return }
        try register(1, name: observing)
        try synchronize()
    }

    // MARK: Writing

    package func write(_ bytes: [UInt8]) throws {
        let deadline = SuspendingClock.now + Self.limit
        try bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = send(
                    socket.descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
                    Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                if count >= 0 {
                    written += count
                } else if errno == EAGAIN {
                    try wait(POLLOUT, until: deadline)
                } else if errno != EINTR {
                    throw Problem.wrote(errno)
                }
            }
        }
    }

    private func wait(_ events: Int32, until deadline: SuspendingClock.Instant) throws {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
        guard poll(&descriptor, 1, deadline.millisecondsFromNow) > 0 else { throw Problem.late }
    }

    package func frame(_ kind: FrameKind, _ body: (inout FrameWriter) -> Void = { _ in }) throws {
        var writer = FrameWriter()
        writer.frame(kind, body)
        try write(writer.bytes)
    }

    package func register(_ number: UInt32, name: String?, behavior: SuspensionBehavior = .hold) throws {
        try frame(.register) {
            $0.integer(number)
            $0.integer(behavior.wireValue)
            $0.integer(UInt8(name == nil ? 0 : 1))
            if let name { $0.string(name) }
        }
    }

    package func setSuspended(_ flag: Bool) throws {
        try frame(.suspension) { $0.integer(UInt8(flag ? 1 : 0)) }
    }

    /// The frame of a post. The server does not read the bytes of its userInfo.
    package static func post(_ name: String, number: Int, byteCount: Int = 8, immediately: Bool = false) -> [UInt8] {
        var writer = FrameWriter(capacity: byteCount + name.utf8.count + 16)
        writer.frame(.post) {
            $0.integer(PostedPayload.hasUserInfo | (immediately ? PostedPayload.immediately : 0))
            $0.string(name)
            $0.append(repeatElement(0, count: byteCount - 8))
            $0.integer(UInt64(number))
        }
        return writer.bytes
    }

    package func post(_ name: String, numbers: Range<Int>, byteCount: Int = 200) throws {
        var frames = Self.post(name, number: 0, byteCount: byteCount)
        let size = frames.count
        let batch = max(1, (64 << 10) / size)
        let one = frames
        for _ in 1..<batch { frames += one }
        var next = numbers.lowerBound
        while next < numbers.upperBound {
            let count = min(batch, numbers.upperBound - next)
            frames.withUnsafeMutableBytes { bytes in
                for index in 0..<count {
                    bytes.storeBytes(
                        of: UInt64(next + index).littleEndian, toByteOffset: (index + 1) * size - 8, as: UInt64.self)
                }
            }
            try write(Array(frames.prefix(count * size)))
            next += count
        }
    }

    /// Work that takes a while, with a server in this process: each round trip would wake a server that takes part in
    /// it.
    package static func roundTrips(_ count: Int) throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        for _ in 0..<count / 10 {
            let peer = try RawPeer(temporary.directory)
            for _ in 0..<10 { try peer.synchronize() }
        }
        withExtendedLifetime(server) {}
    }

    // MARK: Reading

    /// The kind of the next frame, which is not consumed.
    package func peek() throws -> FrameKind? {
        let received = try next()
        peeked = received
        if case .frame(let kind, _) = received { return kind }
        return nil
    }

    /// The next frame.
    package func next(limit: Duration = RawPeer.limit) throws -> Received {
        if let peeked {
            self.peeked = nil
            return peeked
        }
        let deadline = SuspendingClock.now + limit
        while true {
            if let frame = try decoder.next() {
                guard let kind = FrameKind(rawValue: frame.kind) else { throw Problem.kind(frame.kind) }
                return .frame(kind, Array(frame.payload))
            }
            let space = decoder.space()
            let count = recv(socket.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                decoder.received(count)
            } else if count == 0 || errno == ECONNRESET {
                return .end
            } else if errno == EAGAIN {
                try wait(POLLIN, until: deadline)
            } else if errno != EINTR {
                throw Problem.wrote(errno)
            }
        }
    }

    /// The next notification.
    package func delivered() throws -> Delivered {
        let received = try next()
        guard case .frame(.notification, let payload) = received else { throw Problem.ended(received) }
        return try Self.delivered(payload)
    }

    package static func delivered(_ payload: [UInt8]) throws -> Delivered {
        try payload.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            let sender = Int32(bitPattern: try reader.integer(UInt32.self))
            var registrations: [UInt32] = []
            for _ in 0..<(try reader.integer(UInt16.self)) { registrations.append(try reader.integer(UInt32.self)) }
            return Delivered(sender: sender, registrations: registrations, payload: Array(reader.rest()))
        }
    }

    package static func gap(_ payload: [UInt8]) throws -> Gap {
        try payload.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            let cause = try XCTUnwrap(NotificationGap.Cause(wireValue: try reader.integer(UInt8.self)))
            var gap = Gap(cause: cause, count: Int(try reader.integer(UInt64.self)), registrations: [:])
            for _ in 0..<(try reader.integer(UInt16.self)) {
                let registration = try reader.integer(UInt32.self)
                gap.registrations[registration] = Int(try reader.integer(UInt64.self))
            }
            return gap
        }
    }

    /// Reads the server's goodbye, and checks that the connection then ends.
    package func farewell(limit: Duration = RawPeer.limit) throws -> Goodbye {
        while true {
            let received = try next(limit: limit)
            guard case .frame(let kind, let payload) = received else { throw Problem.ended(received) }
            guard kind == .goodbye else { continue }
            let bye = try payload.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try Goodbye(&reader)
            }
            XCTAssertEqual(try next(limit: limit), .end)
            return bye
        }
    }

    /// Waits until the server has processed all that was written, and returns its output until then.
    @discardableResult
    package func synchronize() throws -> [Received] {
        lastSynchronization += 1
        let number = lastSynchronization
        try frame(.synchronize) { $0.integer(number) }
        var before: [Received] = []
        while true {
            let received = try next()
            if received == .end { throw Problem.ended(received) }
            if case .frame(.synchronized, let payload) = received,
                payload == withUnsafeBytes(of: number.littleEndian, Array.init)
            {
                return before
            }
            before.append(received)
        }
    }
}
