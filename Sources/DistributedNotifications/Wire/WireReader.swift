/// Reads the parts of a payload one after the other, and never past its end.
package struct WireReader {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var offset = 0

    /// - Parameter bytes: must outlive the reader.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package var remaining: Int { bytes.count - offset }

    package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(WireError) -> Integer {
        let size = MemoryLayout<Integer>.size
        guard remaining >= size else { throw .truncated }
        defer { offset += size }
        return Integer(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }

    package mutating func take(_ count: Int) throws(WireError) -> UnsafeRawBufferPointer {
        guard count <= remaining else { throw .truncated }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    /// The bytes of a string, which are not checked.
    package mutating func stringBytes(limit: Int) throws(WireError) -> UnsafeRawBufferPointer {
        let count = Int(try integer(UInt16.self))
        guard count <= limit else { throw .tooLong(count, limit: limit) }
        return try take(count)
    }

    package mutating func string(limit: Int) throws(WireError) -> String {
        let bytes = try stringBytes(limit: limit)
        guard let text = String(utf8: bytes) else { throw .notUTF8 }
        return text
    }

    package mutating func rest() -> UnsafeRawBufferPointer {
        defer { offset = bytes.count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset...])
    }

    package func end() throws(WireError) {
        guard remaining == 0 else { throw .trailing(remaining) }
    }
}

/// A fault in the bytes that another process wrote.
package struct WireError: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// True if it is another reason to end the connection.
    package let isRefusal: Bool

    private init(_ description: String, isRefusal: Bool = false) {
        (self.description, self.isRefusal) = (description, isRefusal)
    }

    package static func frameLength(_ length: UInt32) -> WireError {
        WireError("a frame of \(length) bytes, and a frame has 1 to \(Wire.frameLimit)")
    }
    package static let truncated = WireError("a frame that ends before its parts do")
    package static func trailing(_ count: Int) -> WireError { WireError("a frame with \(count) bytes after its parts") }
    package static func tooLong(_ count: Int, limit: Int) -> WireError {
        WireError("a string of \(count) bytes where at most \(limit) may be")
    }
    package static let notUTF8 = WireError("a string that is not UTF-8")
    package static let nul = WireError("a string with NUL in it")
    package static let emptyName = WireError("an empty name")
    package static func unknown(_ what: String, _ value: String) -> WireError {
        WireError("an unknown \(what), \(value)")
    }
    package static func outOfTurn(_ kind: FrameKind) -> WireError {
        WireError("a frame of kind \(kind) where none may be")
    }
    package static func refused(_ reason: String) -> WireError { WireError(reason, isRefusal: true) }
}

extension String {
    /// - Returns: nil if the bytes are not UTF-8.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard let text = try? UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span) else { return nil }
        self.init(copying: text)
    }
}
