extension String {
    /// - Returns: nil if the bytes are not UTF-8.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard let text = try? UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span) else { return nil }
        self.init(copying: text)
    }
}
