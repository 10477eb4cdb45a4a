internal import Glibc
internal import NIOCore

/// Takes the bytes that a server sent, in pieces of any size, and returns one operation after the other.
///
/// This is the hot path: the bytes of a message are looked at once, stay where they are, and become no strings.
struct NATSParser {
    enum Operation {
        case message(NATSMessage)
        case info(NATSServerInfo)
        case error([UInt8])
        case ping, pong, ok
    }

    let server: NATSServer
    let maximumPayload: Int
    private var bytes = ByteBuffer()
    /// So many bytes have been searched for the end of a control line.
    private var searched = 0
    /// A message of which the control line is here, and not yet all of the rest.
    private var incomplete: NATSMessageLine?

    init(_ server: NATSServer, maximumPayload: Int) {
        (self.server, self.maximumPayload) = (server, maximumPayload)
    }

    /// All that was appended has been returned.
    var isEmpty: Bool { bytes.readableBytes == 0 }

    mutating func append(_ piece: inout ByteBuffer) {
        if isEmpty {
            bytes = piece
        } else {
            bytes.discardReadBytes()
            bytes.writeBuffer(&piece)
        }
    }

    /// The next operation, or nil until more bytes come. After an error, the connection has to end.
    mutating func next() throws(NATSError) -> Operation? {
        if let incomplete { return try message(incomplete) }
        guard let length = try lineLength() else { return nil }
        // MSG and HMSG.
        let first = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self)
        guard first == UInt8(ascii: "M") || first == UInt8(ascii: "H") else { return try control(length) }
        let line = bytes.withUnsafeReadableBytes { NATSMessageLine(UnsafeRawBufferPointer(rebasing: $0[..<length])) }
        guard let line else { throw notUnderstood("an invalid line", length) }
        guard line.end - line.headers.lowerBound <= maximumPayload else {
            throw notUnderstood("too large a message", length)
        }
        return try message(line)
    }

    /// The length of the control line, without its end.
    private mutating func lineLength() throws(NATSError) -> Int? {
        let end = bytes.withUnsafeReadableBytes { [searched] bytes -> Int? in
            guard let base = bytes.baseAddress else { return nil }
            return memchr(base + searched, 0x0A, bytes.count - searched).map { UnsafeRawPointer($0) - base }
        }
        searched = end == nil ? bytes.readableBytes : 0
        let length = (end ?? searched) - 1
        if length > 4096, length > 65536 || !bytes.readableBytesView.starts(with: "INFO ".utf8) {
            throw notUnderstood("too long a line", length)
        }
        guard end != nil else { return nil }
        guard length >= 0, bytes.getInteger(at: bytes.readerIndex + length, as: UInt8.self) == 0x0D else {
            throw notUnderstood("a line without CR", length)
        }
        return length
    }

    private mutating func message(_ line: NATSMessageLine) throws(NATSError) -> Operation? {
        incomplete = bytes.readableBytes < line.end + 2 ? line : nil
        guard incomplete == nil else { return nil }
        guard bytes.getInteger(at: bytes.readerIndex + line.end, as: UInt16.self) == 0x0D0A,
            let message = bytes.readSlice(length: line.end + 2)
        else { throw notUnderstood("a message of another length than its line says", line.end + 2) }
        return .message(NATSMessage(bytes: message, line: line))
    }

    /// An operation without a payload.
    private mutating func control(_ length: Int) throws(NATSError) -> Operation {
        let line = bytes.getBytes(at: bytes.readerIndex, length: length) ?? []
        let space = line.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
        let operation: Operation? =
            switch String(decoding: line[..<space], as: UTF8.self) {
            case "PING": .ping
            case "PONG": .pong
            case "+OK": .ok
            case "-ERR": .error(Array(line[space...].dropFirst()))
            case "INFO": NATSJSON.decode(from: line[space...]).map { .info($0) }
            default: nil
            }
        guard let operation else { throw notUnderstood("an unknown operation", length) }
        bytes.moveReaderIndex(forwardBy: length + 2)
        return operation
    }

    private func notUnderstood(_ problem: String, _ length: Int) -> NATSError {
        let (text, own) = (bytes.readableBytesView, "CONNECT".utf8)
        // What echoes this client's own line would bring the password into the error.
        let quoted = NATSError.quoted(text.prefix(text.starts(with: own) ? own.count : max(length, 1)))
        return NATSError(
            .lost, "\(server) sent \(problem), \(quoted), which is not understood. Check that this is a NATS server.")
    }
}

/// The control line of a message: where its parts are, counted from the beginning of the line.
struct NATSMessageLine: Hashable, Sendable {
    let subscription: UInt64
    let subject: Range<Int>
    let reply: Range<Int>?
    let headers: Range<Int>
    /// All after the headers.
    let payload: Range<Int>

    /// Where the message ends, without CR LF.
    var end: Int { payload.upperBound }

    /// `MSG <subject> <subscription> [reply] <bytes>` or `HMSG <subject> <subscription> [reply] <headers> <bytes>`.
    /// - Parameter line: without its end.
    init?(_ line: UnsafeRawBufferPointer) {
        var position = 0
        func word() -> Range<Int>? {
            while position < line.count, line[position] == UInt8(ascii: " ") { position += 1 }
            let start = position
            while position < line.count, line[position] > UInt8(ascii: " ") { position += 1 }
            return start < position ? start..<position : nil
        }
        func number(_ range: Range<Int>) -> UInt64? { decimal(UnsafeRawBufferPointer(rebasing: line[range])) }

        guard let operation = word(), let subject = word(), let subscription = word(), let third = word(),
            let subscription = number(subscription)
        else { return nil }
        let hasHeaders = operation.count == 4
        let (fourth, fifth) = (word(), hasHeaders ? word() : nil)
        guard position == line.count, line[operation].elementsEqual((hasHeaders ? "HMSG" : "MSG").utf8) else {
            return nil
        }
        // Without a reply subject, each number is one word earlier.
        reply = (hasHeaders ? fifth : fourth) == nil ? nil : third
        let last = fifth ?? fourth ?? third
        let headerCount = !hasHeaders ? 0 : fourth.flatMap { number(fifth == nil ? third : $0) }
        guard let count = number(last), count < 1 << 32, let headerCount, headerCount <= count else { return nil }
        (self.subject, self.subscription) = (subject, subscription)
        let start = line.count + 2
        headers = start..<(start + Int(headerCount))
        payload = headers.upperBound..<(start + Int(count))
    }
}
