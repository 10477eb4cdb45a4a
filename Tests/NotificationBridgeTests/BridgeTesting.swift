internal import DistributedNotifications
internal import NIOCore
internal import SharedTesting

@testable internal import NATSClient
@testable internal import NotificationBridge

let kitchen = DistributedNotification.Origin(machine: "kitchen", user: "anna")

/// The payload of a post frame, as a center writes it.
func payload(
    _ name: String = "Saved", object: String? = nil, series: UInt64 = 7, number: UInt64? = 1, record: UInt64? = nil,
    origin: DistributedNotification.Origin? = nil, userInfo: [UInt8]? = nil
) -> [UInt8] {
    var writer = FrameWriter()
    let parts =
        [(object != nil, PostedPayload.hasObject), (userInfo != nil, PostedPayload.hasUserInfo)]
        + [(record != nil, PostedPayload.hasRecord), (number != nil, PostedPayload.hasSequence)]
        + [(origin != nil, PostedPayload.hasOrigin)]
    writer.integer(parts.reduce(UInt8(0)) { $1.0 ? $0 | $1.1 : $0 })
    writer.string(name)
    if let object { writer.string(object) }
    if let record { writer.integer(record) }
    if let number {
        writer.integer(series)
        writer.integer(number)
    }
    for text in [origin?.machine, origin?.user].compactMap({ $0 }) { writer.string(text) }
    writer.append(userInfo ?? [])
    return writer.bytes
}

/// What a bridge publishes for a payload.
func bridged(_ payload: [UInt8], from bridge: UInt64 = 1) throws -> [UInt8]? {
    try payload.withUnsafeBytes { bytes throws(WireError) in
        BridgedPost.Envelope(bridge: bridge, kitchen).message(try PostedPayload(bytes))
    }
}

/// A userInfo on the wire.
func encoded(_ userInfo: [String: PropertyListValue]) throws -> [UInt8] {
    var writer = FrameWriter()
    try writer.details(userInfo.compactMapValues(\.stringValue))
    return Array(writer.bytes.dropFirst(5))
}

extension NATSMessage {
    /// A message as a server writes it.
    static func test(_ payload: [UInt8], reply: String? = nil, header: String? = nil) throws -> NATSMessage {
        let parser = NATSParser(server: try NATSServer("nats://host"))
        let (head, words) = (header.map { Array("\($0)\r\n\r\n".utf8) } ?? [], reply.map { " \($0)" } ?? "")
        let line =
            header == nil
            ? "MSG a 1\(words) \(payload.count)\r\n"
            : "HMSG a 1\(words) \(head.count) \(head.count + payload.count)\r\n"
        var bytes = ByteBuffer(bytes: Array(line.utf8) + head + payload + Array("\r\n".utf8))
        guard case .message(let message) = try parser.decode(buffer: &bytes) else { throw NATSError("no message") }
        return message
    }

    /// A message of a consumer.
    static func delivered(_ payload: [UInt8], stream: UInt64, consumer: UInt64) throws -> NATSMessage {
        try test(payload, reply: "$JS.ACK.S.C.1.\(stream).\(consumer).1.0")
    }
}
