extension String {
    /// - Returns: nil if the bytes are not UTF-8.
    //
    // Most strings are ASCII, and the check of all Unicode takes many times as long.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard Self.isASCII(bytes) else {
            self.init(validating: bytes, as: UTF8.self)
            return
        }
        self.init(decoding: bytes, as: UTF8.self)
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while offset + 8 <= bytes.count {
            guard bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 else {
                return false
            }
            offset += 8
        }
        while offset < bytes.count {
            guard bytes[offset] < 0x80 else { return false }
            offset += 1
        }
        return true
    }
}
