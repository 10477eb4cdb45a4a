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

        /// The reason of a goodbye.
        package var goodbye: String? {
            guard case .frame(.goodbye, let payload) = self else { return nil }
            return payload.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try? Goodbye(&reader).text
            }
        }
    }

    /// A notification from the server; `number` is the one that `post(…, number:)` wrote.
    package typealias Delivered = (sender: Int32, registrations: [UInt32], number: Int)

    /// Connects, without starting a server.
    /// - Parameters:
    ///   - name: the name in its hello; nil: it does not send hello.
    ///   - key: of a kept client, which has begun once this returns.
    ///   - observing: a name that it observes with number 1, once this returns.
    package init(
        _ directory: ServerDirectory, name: String? = "raw", suspended: Bool = false, keptAs key: String? = nil,
        observing: String? = nil
    ) throws {
        guard let socket = try ServerStart.connectIfServed(directory, timeout: TestTimeout.hang) else {
            throw Problem.wrote(ECONNREFUSED)
        }
        self.socket = socket
        guard let name else { return }
        try sayHello(name, suspended: suspended, keptAs: key)
        let answer = try next()
        guard case .frame(.welcome, _) = answer else { throw Problem.ended(answer) }
        guard let observing else { return }
        try register(1, name: observing)
        // Its notifications may come before the answer to a synchronization.
        if key != nil { try acknowledge(0) } else { try synchronize() }
    }

    package init(_ socket: LocalSocket) {
        self.socket = socket
    }

    // MARK: Writing

    /// The answer is not waited for.
    package func sayHello(
        _ name: String = "raw", suspended: Bool = false, keptAs key: String? = nil, version: UInt16 = Wire.version
    ) throws {
        var hello = FrameWriter()
        hello.hello(suspended: suspended, name: name, keptAs: key, version: version)
        try write(hello.bytes)
    }

    package func write(_ bytes: [UInt8]) throws {
        var written = 0
        while written < bytes.count {
            if let count = try offer(bytes[written...]) { written += count } else { try wait(POLLOUT) }
        }
    }

    /// Writes what the socket takes at once.
    /// - Returns: the number of bytes; nil if it takes none.
    package func offer(_ bytes: ArraySlice<UInt8>) throws -> Int? {
        let count = bytes.withUnsafeBytes {
            send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
        guard count < 0 else { return count }
        guard errno == EAGAIN || errno == EINTR else { throw Problem.wrote(errno) }
        return nil
    }

    private func wait(_ events: Int32) throws {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
        guard poll(&descriptor, 1, Int32(TestTimeout.seconds * 1000)) > 0 else { throw Problem.late }
    }

    package func frame(_ kind: FrameKind, _ body: (inout FrameWriter) -> Void = { _ in }) throws {
        var writer = FrameWriter()
        writer.frame(kind, body)
        try write(writer.bytes)
    }

    package func register(
        _ number: UInt32, name: String?, object: String? = nil, behavior: SuspensionBehavior = .hold
    ) throws {
        var writer = FrameWriter()
        writer.register(number, name: name, object: object, behavior: behavior)
        try write(writer.bytes)
    }

    /// - Parameter count: of all notifications over this connection.
    package func acknowledge(_ count: Int) throws { try frame(.acknowledge) { $0.integer(UInt64(count)) } }

    package func setSuspended(_ flag: Bool) throws {
        try frame(.suspension) { $0.integer(UInt8(flag ? 1 : 0)) }
    }

    /// The frame of a post. The server does not read the bytes of its userInfo.
    package static func post(
        _ name: String, _ object: String? = nil, number: Int, byteCount: Int = 8, immediately: Bool = false
    ) -> [UInt8] {
        var writer = FrameWriter(capacity: byteCount + name.utf8.count + 16)
        let flags = PostedPayload.hasUserInfo | (object == nil ? 0 : PostedPayload.hasObject)
        writer.frame(.post) {
            $0.integer(flags | (immediately ? PostedPayload.immediately : 0))
            $0.string(name)
            if let object { $0.string(object) }
            $0.append([UInt8](repeating: 0, count: byteCount - 8))
            $0.integer(UInt64(number))
        }
        return writer.bytes
    }

    /// The frame of a post without an object and a userInfo.
    package static func post(
        _ name: String, sequence: PostSequence? = nil, origin: (machine: [UInt8], user: [UInt8])? = nil
    ) -> [UInt8] {
        var writer = FrameWriter()
        writer.frame(.post) {
            $0.integer(
                (sequence == nil ? 0 : PostedPayload.hasSequence) | (origin == nil ? 0 : PostedPayload.hasOrigin))
            $0.string(name)
            if let sequence {
                $0.integer(sequence.series)
                $0.integer(sequence.number)
            }
            for part in origin.map({ [$0.machine, $0.user] }) ?? [] {
                $0.integer(UInt16(part.count))
                $0.append(part)
            }
        }
        return writer.bytes
    }

    /// Posts with increasing numbers.
    package func post(_ name: String, numbers: Range<Int>, byteCount: Int = 200) throws {
        var frame = Self.post(name, number: 0, byteCount: byteCount)
        var bytes: [UInt8] = []
        for number in numbers {
            frame.withUnsafeMutableBytes {
                $0.storeBytes(of: UInt64(number).littleEndian, toByteOffset: $0.count - 8, as: UInt64.self)
            }
            bytes += frame
            if bytes.count > 64 << 10 || number == numbers.last {
                try write(bytes)
                bytes = []
            }
        }
    }

    // MARK: Reading

    /// The next frame.
    package func next() throws -> Received {
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
                try wait(POLLIN)
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
            return (sender, registrations, reader.rest().suffix(8).reversed().reduce(0) { $0 << 8 | Int($1) })
        }
    }

    package static func gap(_ payload: [UInt8]) throws -> (cause: String, count: Int) {
        try payload.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            return (try reader.string(limit: Wire.nameLimit), Int(try reader.integer(UInt64.self)))
        }
    }

    /// Reads until the connection ends.
    /// - Returns: the reason that the server gave.
    package func farewell() throws -> String {
        var reason: String?
        while case let received = try next(), received != .end { reason = received.goodbye ?? reason }
        guard let reason else { throw Problem.ended(.end) }
        return reason
    }

    /// Waits until the server has processed all that was written, and returns its output until then.
    @discardableResult
    package func synchronize() throws -> [Received] {
        lastSynchronization += 1
        let number = lastSynchronization
        try frame(.synchronize) { $0.integer(number) }
        let answer = Received.frame(.synchronized, withUnsafeBytes(of: number.littleEndian, Array.init))
        var before: [Received] = []
        while case let received = try next(), received != answer {
            if received == .end { throw Problem.ended(received) }
            before.append(received)
        }
        return before
    }
}
