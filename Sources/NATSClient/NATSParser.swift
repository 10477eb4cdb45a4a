internal import Glibc
internal import NIOCore

/// Takes one operation after the other from the bytes that a server sent.
///
/// This is the hot path: the bytes of a message are looked at once, stay where they are, and become no strings.
struct NATSParser: NIOSingleStepByteToMessageDecoder {
    enum InboundOut {
        case message(NATSMessage)
        case info(NATSServerInfo)
        case error(String)
        case ping, pong, ok
    }

    /// With its end. What a server says about its cluster is longer than other lines.
    static let longestLine = 64 << 10
    static let longestMessage = 8 << 20

    let server: NATSServer

    /// - Returns: nil until more bytes come.
    func decode(buffer bytes: inout ByteBuffer) throws(NATSError) -> InboundOut? {
        let end = bytes.withUnsafeReadableBytes { bytes -> Int? in
            guard let base = bytes.baseAddress else { return nil }
            return memchr(base, 0x0A, min(bytes.count, Self.longestLine)).map { UnsafeRawPointer($0) - base }
        }
        if end == nil, bytes.readableBytes < Self.longestLine { return nil }
        guard let end, end > 0, bytes.getInteger(at: bytes.readerIndex + end - 1, as: UInt8.self) == 0x0D else {
            throw notUnderstood(bytes)
        }
        if let message = bytes.withUnsafeReadableBytes({ NATSMessage(line: .init(rebasing: $0[..<(end - 1)])) }) {
            return try complete(message, &bytes)
        }
        let line = bytes.getBytes(at: bytes.readerIndex, length: end - 1) ?? []
        guard let operation = Self.control(line) else { throw notUnderstood(bytes) }
        bytes.moveReaderIndex(forwardBy: end + 1)
        return operation
    }

    /// Nothing is complete only because the connection has ended.
    func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) -> InboundOut? { nil }

    private func complete(_ message: NATSMessage, _ bytes: inout ByteBuffer) throws(NATSError) -> InboundOut? {
        var message = message
        guard message.length <= Self.longestMessage else { throw notUnderstood(bytes) }
        guard bytes.readableBytes >= message.length else { return nil }
        guard bytes.getInteger(at: bytes.readerIndex + message.length - 2, as: UInt16.self) == 0x0D0A,
            let slice = bytes.readSlice(length: message.length)
        else { throw notUnderstood(bytes) }
        message.bytes = slice
        return .message(message)
    }

    /// An operation without a payload.
    private static func control(_ line: [UInt8]) -> InboundOut? {
        let space = line.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
        return switch String(decoding: line[..<space], as: UTF8.self) {
        case "PING": .ping
        case "PONG": .pong
        case "+OK": .ok
        case "-ERR": .error(NATSError.quoted(line[space...].dropFirst().filter { $0 != UInt8(ascii: "'") }))
        case "INFO": NATSJSON.decode(from: line[space...]).map { .info($0) }
        default: nil
        }
    }

    private func notUnderstood(_ bytes: ByteBuffer) -> NATSError {
        let (text, own) = (bytes.readableBytesView, "CONNECT".utf8)
        // An echo of this client's own line would bring the password into the error.
        let start = NATSError.quoted(
            text.starts(with: own) ? text.prefix(own.count) : text.prefix { $0 != 0x0D && $0 != 0x0A })
        return .lost(server, "it sent \(start), which is not understood; check that it is a NATS server")
    }
}
