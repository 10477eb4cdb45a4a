/// The limits of the protocol between client and server. The article *Distributed Notifications* describes the
/// protocol.
///
///     frame:  u32 length (of what follows, 1 to 65,536)  u8 kind  payload
///
/// Numbers are little-endian, strings are a u16 length and UTF-8.
package enum Wire {
    /// The first four bytes of a hello.
    package static let magic: UInt32 = 0x4344_4E54
    /// Kind and payload.
    package static let frameLimit = 64 << 10
    /// The length itself.
    package static let lengthBytes = 4
    package static let nameLimit = 255
    package static let objectLimit = 1024
    package static let userInfoLimit = 60 << 10
    /// The name of a process in its hello.
    package static let processNameLimit = 255
    /// The default limit of observers for each client.
    package static let observerLimit = 512
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
    /// u8 flags, name, [object], the rest is userInfo. See `PostedPayload`.
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
    /// The process has not read for too long.
    case stalled = 3
}

extension SuspensionBehavior {
    package var wireValue: UInt8 {
        switch self {
        case .drop: 1
        case .coalesce: 2
        case .hold: 3
        case .deliverImmediately: 4
        }
    }

    package init?(wireValue: UInt8) {
        switch wireValue {
        case 1: self = .drop
        case 2: self = .coalesce
        case 3: self = .hold
        case 4: self = .deliverImmediately
        default: return nil
        }
    }
}

extension NotificationGap.Cause {
    package var wireValue: UInt8 {
        switch self {
        case .slow: 1
        case .held: 2
        case .waiting: 3
        case .unreadable: 4
        }
    }

    package init?(wireValue: UInt8) {
        guard let cause = Self.allCases.first(where: { $0.wireValue == wireValue }) else { return nil }
        self = cause
    }
}
