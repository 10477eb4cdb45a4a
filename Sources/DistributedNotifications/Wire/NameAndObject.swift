internal import Glibc

/// The name and the object of a notification, or those that an observer asks for, as they were received.
///
/// They are one string of bytes, `name` or `name NUL object`, because neither may contain NUL. Two are equal if their
/// bytes are equal, so the two Unicode forms of "é" are two names.
package struct NameAndObject: Hashable, Sendable {
    private let bytes: [UInt8]

    /// - Parameter name: not empty; nil if an observer asks for any name.
    package init(name: UnsafeRawBufferPointer? = nil, object: UnsafeRawBufferPointer? = nil) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity((name?.count ?? 0) + 1 + (object?.count ?? 0))
        if let name { bytes += name }
        if let object {
            bytes.append(0)
            bytes += object
        }
        self.bytes = bytes
    }

    package var name: String? {
        bytes.first ?? 0 == 0 ? nil : String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    package var object: String? {
        bytes.firstIndex(of: 0).map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) }
    }

    /// Whether it is of this name and this object, without making another one.
    func isEqual(_ name: UnsafeRawBufferPointer, _ object: UnsafeRawBufferPointer?) -> Bool {
        let count = name.count + (object.map { $0.count + 1 } ?? 0)
        guard bytes.count == count, let start = name.baseAddress, memcmp(bytes, start, name.count) == 0 else {
            return false
        }
        guard let object else { return true }
        return bytes[name.count] == 0 && bytes[(name.count + 1)...].elementsEqual(object)
    }

    // An array would feed its bytes to the hasher one by one.
    package func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }
}
