/// The protocol between client and server. Its limits are in `Limits.swift`; the article *Distributed Notifications*
/// describes it.
///
///     frame:  u32 length (of what follows, 1 to 65,536)  u8 kind  payload
///
/// Numbers are little-endian, strings are a u16 length and UTF-8.
package enum Wire {
    /// The first four bytes of a hello.
    package static let magic: UInt32 = 0x4344_4E54
    /// Of the length itself.
    package static let lengthBytes = 4
}

/// The kinds of frames. A client sends those below 64, the server the others.
package enum FrameKind: UInt8 {
    /// u32 magic, u16 newest version, u16 oldest version, u8 suspended, the process's name. The first frame, and only
    /// that.
    case hello = 1
    /// u32 number, u8 behavior, u8 flags (1 name, 2 object), [name], [object].
    case register = 2
    /// u32 number.
    case unregister = 3
    /// u8: 1 is suspended.
    case suspension = 4
    /// u8 flags, name, [object], [u64 number], the rest is userInfo. See `PostedPayload`.
    case post = 5
    /// u64 number, which the answer has.
    case synchronize = 6
    /// Nothing.
    case status = 7
    /// Nothing. The client closes the connection.
    case farewell = 8

    /// u16 version, u32 process id.
    case welcome = 65
    /// u32 the poster's process id, u16 count, count × u32 registration, then a post's payload as it came.
    case notification = 66
    /// u8 cause, u64 count, u16 observers, each u32 registration and u64 count.
    case gap = 67
    /// u64 number.
    case synchronized = 68
    /// u8: 1 if more come; a property list.
    case statusPart = 69
    /// u8 `GoodbyeReason`, text.
    case goodbye = 70
}

/// Why the server ends a connection.
package enum GoodbyeReason: UInt8 {
    /// The server stops; another may be started.
    case stopping = 1
    /// The server does not serve this process.
    case refused = 2
}

/// The reason that the server gives when it ends a connection.
package struct Goodbye {
    package var reason: GoodbyeReason
    package var text: String

    package init(_ reader: inout WireReader) throws(WireError) {
        let wireReason = try reader.integer(UInt8.self)
        guard let reason = GoodbyeReason(rawValue: wireReason) else { throw .unknown("reason to end", wireReason) }
        self.reason = reason
        text = try reader.string(limit: Wire.frameLimit)
    }
}

/// A value that is sent as its place among all, from 1.
package protocol WireCase: CaseIterable, Equatable {}

extension WireCase where AllCases == [Self] {
    package var wireValue: UInt8 { UInt8(Self.allCases.firstIndex(of: self)! + 1) }

    package init?(wireValue: UInt8) {
        guard Self.allCases.indices.contains(Int(wireValue) - 1) else { return nil }
        self = Self.allCases[Int(wireValue) - 1]
    }
}

extension SuspensionBehavior: WireCase {}
extension NotificationGap.Cause: WireCase {}
