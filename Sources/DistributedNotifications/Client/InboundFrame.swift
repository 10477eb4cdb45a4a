/// A frame from the server, decoded. Its bytes are valid as long as the frame's.
enum InboundFrame {
    case welcome(version: UInt16)
    case notification(InboundPost)
    case gap(count: Int, cause: NotificationGap.Cause, observers: [(number: UInt32, count: Int)])
    case synchronized(UInt64)
    case goodbye(Goodbye)

    init(_ frame: Frame) throws(WireError) {
        var reader = WireReader(frame.payload)
        switch FrameKind(rawValue: frame.kind) {
        case .welcome: self = .welcome(version: try reader.integer(UInt16.self))
        case .notification: self = .notification(try InboundPost(&reader))
        case .gap: self = try Self.gap(&reader)
        case .synchronized: self = .synchronized(try reader.integer(UInt64.self))
        case .goodbye: self = .goodbye(try Goodbye(&reader))
        default: throw .unknown("kind of frame", frame.kind)
        }
    }

    private static func gap(_ reader: inout WireReader) throws(WireError) -> InboundFrame {
        let wireCause = try reader.integer(UInt8.self)
        guard let cause = NotificationGap.Cause(wireValue: wireCause) else {
            throw .unknown("cause of a gap", wireCause)
        }
        let count = Int(clamping: try reader.integer(UInt64.self))
        var observers: [(number: UInt32, count: Int)] = []
        for _ in 0..<(try reader.integer(UInt16.self)) {
            let number = try reader.integer(UInt32.self)
            observers.append((number, Int(clamping: try reader.integer(UInt64.self))))
        }
        return .gap(count: count, cause: cause, observers: observers)
    }
}

/// A notification as the server sends it: its poster, the observers that it matched, and the bytes that were posted.
struct InboundPost {
    let sender: Int32
    /// The observers' numbers, 4 bytes each.
    let numbers: UnsafeRawBufferPointer
    let payload: PostedPayload
    /// The payload's size in bytes.
    let payloadSize: Int

    init(_ reader: inout WireReader) throws(WireError) {
        sender = Int32(bitPattern: try reader.integer(UInt32.self))
        numbers = try reader.take(4 * Int(try reader.integer(UInt16.self)))
        let rest = reader.rest()
        payload = try PostedPayload(rest)
        payloadSize = rest.count
    }

    var observerNumbers: some Sequence<UInt32> {
        stride(from: 0, to: numbers.count, by: 4).lazy.map { [numbers] in
            UInt32(littleEndian: numbers.loadUnaligned(fromByteOffset: $0, as: UInt32.self))
        }
    }
}
