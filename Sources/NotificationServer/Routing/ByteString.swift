internal import DistributedNotifications

/// A name or an object as it came: bytes of UTF-8. Two are the same if their bytes are, so "é" in two forms is two names.
struct ByteString: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = Array(bytes)
    }

    init(_ string: String) {
        bytes = Array(string.utf8)
    }

    var count: Int { bytes.count }

    /// What is not UTF-8 in it is shown as U+FFFD.
    var string: String { String(decoding: bytes, as: UTF8.self) }

    // An array would feed its bytes to the hasher one by one.
    func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(bytes.count)
    }
}
