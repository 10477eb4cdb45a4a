internal import Glibc
internal import NIOCore

/// Takes one operation after the other from the bytes that a server sent.
struct NATSParser: NIOSingleStepByteToMessageDecoder {
    enum InboundOut {
        case message(NATSMessage)
        case info(NATSServerInfo)
        case error(String)
        case ping, pong, ok
    }

    /// With its end. The description of a server in a cluster is longer than other lines.
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
        var rest = bytes
        guard let end, end > 0, let line = rest.readSlice(length: end - 1)?.readableBytesView,
            rest.readInteger(as: UInt16.self) == 0x0D0A, let operation = operation(line, &rest)
        else { throw notUnderstood(bytes) }
        switch operation {
        case .complete(let operation):
            bytes = rest
            return operation
        case .incomplete: return nil
        }
    }

    /// Nothing is complete only because the connection has ended.
    func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) -> InboundOut? { nil }

    private enum Step {
        case complete(InboundOut)
        case incomplete
    }

    /// - Parameter rest: the bytes after the line.
    /// - Returns: nil if it is no operation.
    private func operation(_ line: ByteBufferView, _ rest: inout ByteBuffer) -> Step? {
        let words = line.split(separator: UInt8(ascii: " "))
        let text = line.drop { $0 != UInt8(ascii: " ") }.dropFirst()
        switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "MSG": return words.count > 3 ? message(words, headers: 0, &rest) : nil
        case "HMSG":
            guard words.count > 4, let headers = decimal(words[words.count - 2]) else { return nil }
            return message(words.dropLast(2) + words.suffix(1), headers: headers, &rest)
        case "PING": return .complete(.ping)
        case "PONG": return .complete(.pong)
        case "+OK": return .complete(.ok)
        case "-ERR": return .complete(.error(NATSError.quoted(text.filter { $0 != UInt8(ascii: "'") })))
        case "INFO": return NATSJSON.decode(from: text).map { .complete(.info($0)) }
        default: return nil
        }
    }

    /// - Parameter words: of `MSG <subject> <subscription> [reply] <bytes>`.
    private func message(_ words: [ByteBufferView], headers: Int, _ rest: inout ByteBuffer) -> Step? {
        guard words.count <= 5, let subscription = decimal(words[2]), let size = words.last.flatMap(decimal),
            headers <= size, size <= Self.longestMessage
        else { return nil }
        guard rest.readableBytes >= size + 2 else { return .incomplete }
        guard let headers = rest.readSlice(length: headers),
            let payload = rest.readSlice(length: size - headers.readableBytes),
            rest.readInteger(as: UInt16.self) == 0x0D0A
        else { return nil }
        return .complete(
            .message(
                NATSMessage(
                    subscription: subscription, subject: words[1], reply: words.count == 5 ? words[3] : nil,
                    headers: headers, payload: payload)))
    }

    private func notUnderstood(_ bytes: ByteBuffer) -> NATSError {
        let (text, own) = (bytes.readableBytesView, "CONNECT".utf8)
        // An echo of this client's own line would bring the password into the error.
        let start = NATSError.quoted(
            text.starts(with: own) ? text.prefix(own.count) : text.prefix { $0 != 0x0D && $0 != 0x0A })
        return .lost(server, "it sent \(start), which is not understood; check that it is a NATS server")
    }
}
