internal import DistributedNotifications

/// A name or an object in UTF-8, as it was received. Two are equal if their bytes are equal, so the two Unicode forms
/// of "é" are two names.
struct ByteString: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = Array(bytes)
    }

    init(_ string: String) {
        bytes = Array(string.utf8)
    }

    var count: Int { bytes.count }

    /// Bytes that are not UTF-8 become U+FFFD.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    // An array would feed its bytes to the hasher one by one.
    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }
}
