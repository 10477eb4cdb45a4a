public import Foundation
internal import Synchronization

/// A notification that a process of this user posted, on this machine or, with a bridge, on another one.
public struct DistributedNotification: Sendable, Hashable {
    public var name: Notification.Name
    /// A string with which the poster identifies the sender.
    public var object: String?
    /// The id of the process that posted it, as the kernel reports it; for one from another machine, the bridge's.
    public var sender: Int32
    /// Where it was posted; nil: on this machine.
    public var origin: Origin?
    private var encoded: EncodedUserInfo?

    /// The machine and the user of a poster, as that machine's bridge names them.
    public struct Origin: Sendable, Hashable, Codable {
        public var machine: String
        public var user: String

        public init(machine: String, user: String) { (self.machine, self.user) = (machine, user) }

        init(_ parts: (machine: UnsafeRawBufferPointer, user: UnsafeRawBufferPointer)) {
            self.init(
                machine: String(decoding: parts.machine, as: UTF8.self),
                user: String(decoding: parts.user, as: UTF8.self))
        }
    }

    public init(
        name: Notification.Name, object: String? = nil, userInfo: [String: PropertyListValue]? = nil,
        origin: Origin? = nil, sender: Int32
    ) {
        self.init(name, object, userInfo.map { EncodedUserInfo($0) }, origin: origin, sender: sender)
    }

    init(
        _ name: Notification.Name, _ object: String?, _ userInfo: EncodedUserInfo?, origin: Origin?, sender: Int32
    ) {
        (self.name, self.object, self.origin, self.sender, encoded) = (name, object, origin, sender, userInfo)
    }

    /// - Cost: the first use decodes it, once for all observers of the process.
    public var userInfo: [String: PropertyListValue]? {
        get { encoded?.value }
        set { encoded = newValue.map { EncodedUserInfo($0) } }
    }

    /// The userInfo as a value of a type, such as one that `post(name:object:codable:)` was given.
    ///
    /// - Throws: `.userInfoNotUsable` with the path of the value that does not fit, also if there is no userInfo.
    public func value<Value: Decodable>(as type: Value.Type = Value.self) throws(DistributedError) -> Value {
        try (userInfo ?? [:]).decoded(as: type)
    }
}

/// A userInfo as it came, which all copies of a notification share. It is decoded once.
final class EncodedUserInfo: Sendable, Hashable {
    /// The bytes, which `PropertyListReader.check` has accepted, until they are decoded.
    private let state: Mutex<(bytes: [UInt8], value: [String: PropertyListValue]?)>

    init(_ value: [String: PropertyListValue]) { state = Mutex(([], value)) }
    init(checked bytes: [UInt8]) { state = Mutex((bytes, nil)) }

    var value: [String: PropertyListValue] {
        state.withLock { state in
            if let value = state.value { return value }
            let value = state.bytes.withUnsafeBytes { try? PropertyListReader.decode($0) } ?? [:]
            state = ([], value)
            return value
        }
    }

    static func == (one: EncodedUserInfo, other: EncodedUserInfo) -> Bool { one.value == other.value }
    func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
