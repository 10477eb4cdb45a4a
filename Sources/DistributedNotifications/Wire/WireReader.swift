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
package enum WireError: Error, Hashable, CustomStringConvertible {
    case frameLength(UInt32)
    case truncated
    case trailing(Int)
    case tooLong(Int, limit: Int)
    case notUTF8
    case nul
    case emptyName
    case unknown(String, UInt8)
    case magic(UInt32)
    case version(UInt16)
    case outOfTurn(FrameKind)
    case numberInUse(UInt32)
    case tooManyObservers(Int)
    case refused(String)

    package var description: String {
        switch self {
        case .frameLength(let length):
            "a frame of \(length) bytes, and a frame has 1 to \(Wire.frameLimit)"
        case .truncated: "a frame that ends before its parts do"
        case .trailing(let count): "a frame with \(count) bytes after its parts"
        case .tooLong(let count, let limit): "a string of \(count) bytes where at most \(limit) may be"
        case .notUTF8: "a string that is not UTF-8"
        case .nul: "a string with NUL in it"
        case .emptyName: "an empty name"
        case .unknown(let what, let value): "an unknown \(what), \(value)"
        case .magic: "bytes of another protocol"
        case .version(let version):
            "an answer in version \(version) of the protocol, and this program speaks \(ProtocolVersions.supported)"
        case .outOfTurn(let kind): "a frame of kind \(kind) where none may be"
        case .numberInUse(let number): "a second registration with the number \(number)"
        case .tooManyObservers(let limit): "more than \(limit) observers"
        case .refused(let reason): reason
        }
    }
}

extension String {
    /// - Returns: nil if the bytes are not UTF-8.
    package init?(utf8 bytes: UnsafeRawBufferPointer) {
        guard let text = try? UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span) else { return nil }
        self.init(copying: text)
    }
}
