internal import Glibc

/// The name and the object of a notification, or those that an observer asks for, as they were received.
///
/// Two are equal if their bytes are equal, so the two Unicode forms of "é" are two names.
package struct NameAndObject: Hashable, Sendable {
    /// As in a frame: the name, which is empty if it is nil, and the object, unless that is nil.
    private let bytes: [UInt8]

    /// - Parameter bytes: as in a frame; see `PostedPayload.nameAndObject`.
    package init(bytes: some Collection<UInt8>) { self.bytes = Array(bytes) }

    /// - Parameter name: not empty; nil if an observer asks for any name.
    package init(name: String? = nil, object: String? = nil) {
        var writer = FrameWriter()
        writer.string(name ?? "")
        if let object { writer.string(object) }
        bytes = writer.bytes
    }

    /// The bytes of the name with its length.
    private var nameCount: Int { 2 + Int(bytes[0]) + Int(bytes[1]) << 8 }

    package var name: String? { nameCount == 2 ? nil : String(decoding: bytes[2..<nameCount], as: UTF8.self) }

    package var object: String? {
        bytes.count == nameCount ? nil : String(decoding: bytes[(nameCount + 2)...], as: UTF8.self)
    }

    /// All that observers of a post with this name and this object may ask for.
    package var filters: Set<NameAndObject> {
        let (name, object) = (bytes[..<nameCount], bytes[nameCount...])
        return [self, NameAndObject(bytes: name), NameAndObject(bytes: [0, 0] + object), NameAndObject()]
    }

    /// Whether they have these bytes, without making another one.
    func isEqual(_ other: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count == other.count, let start = other.baseAddress else { return false }
        return memcmp(bytes, start, bytes.count) == 0
    }

    // An array would feed its bytes to the hasher one by one.
    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}
