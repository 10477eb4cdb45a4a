internal import DistributedNotifications

/// The name and the object of a notification, or those that an observer asks for, as they were received.
///
/// They are one string of bytes, `name` or `name NUL object`, because neither may contain NUL. Two are equal if their
/// bytes are equal, so the two Unicode forms of "é" are two names.
struct NameAndObject: Hashable, Sendable {
    private let bytes: [UInt8]

    /// - Parameter name: not empty; nil if an observer asks for any name.
    init(name: UnsafeRawBufferPointer? = nil, object: UnsafeRawBufferPointer? = nil) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((name?.count ?? 0) + 1 + (object?.count ?? 0))
        if let name { bytes += name }
        if let object {
            bytes.append(0)
            bytes += object
        }
        self.bytes = bytes
    }

    var name: String? { bytes.first ?? 0 == 0 ? nil : String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    var object: String? {
        bytes.firstIndex(of: 0).map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) }
    }

    // An array would feed its bytes to the hasher one by one.
    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }
}
