/// The protocol between client and server. Its limits are in `Limits.swift`; the article *Distributed Notifications*
/// describes it.
///
///     frame:  u32 length (of what follows, 1 to 65,536)  u8 kind  payload
///
/// Numbers are little-endian; what has no type here is a string, a u16 length and UTF-8.
package enum Wire {
    /// The first four bytes of a hello.
    package static let magic: UInt32 = 0x4344_4E54
    /// Of this protocol.
    package static let version: UInt16 = 5
    /// Of the length itself.
    package static let lengthBytes = 4
}

/// The kinds of frames. A client sends those below 64, the server the others. The article has the payload of each.
package enum FrameKind: UInt8 {
    case hello = 1
    case register = 2
    case unregister = 3
    case suspension = 4
    case post = 5
    case synchronize = 6
    case status = 7
    case farewell = 8
    case acknowledge = 9
    case details = 10

    case welcome = 65
    case notification = 66
    case gap = 67
    case synchronized = 68
    case statusPart = 69
    case goodbye = 70
}

/// The reason that the server gives when it ends a connection: it stops, or does not serve this process.
package enum GoodbyeReason: UInt8 {
    case stopping = 1
    case refused = 2
}

package struct Goodbye {
    package var reason: GoodbyeReason
    package var text: String

    package init(_ reader: inout WireReader) throws(WireError) {
        let wireReason = try reader.integer(UInt8.self)
        guard let reason = GoodbyeReason(rawValue: wireReason) else { throw .unknown("reason to end", "\(wireReason)") }
        self.reason = reason
        text = try reader.string(limit: Wire.frameLimit)
    }
}
