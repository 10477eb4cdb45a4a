/// Writes frames to an array of bytes.
package struct FrameWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Appends a frame; `body` writes its payload.
    package mutating func frame(_ kind: FrameKind, _ body: (inout FrameWriter) -> Void = { _ in }) {
        let start = beginFrame(kind)
        body(&self)
        endFrame(from: start)
    }

    /// - Returns: the start of the frame, for `endFrame`.
    package mutating func beginFrame(_ kind: FrameKind) -> Int {
        let start = bytes.count
        integer(UInt32(0))
        integer(kind.rawValue)
        return start
    }

    package mutating func endFrame(from start: Int) {
        let length = UInt32(bytes.count - start - Wire.lengthBytes)
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length.littleEndian, toByteOffset: start, as: UInt32.self) }
    }

    package mutating func integer(_ value: some FixedWidthInteger) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    package mutating func string(_ text: String) {
        integer(UInt16(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func userInfo(_ userInfo: [String: PropertyListValue]?) throws(DistributedError) {
        try PropertyListWriter.encode(userInfo, into: &bytes)
    }

    package mutating func append(_ more: some Collection<UInt8>) {
        bytes.append(contentsOf: more)
    }

    /// The first frame of a client.
    package mutating func hello(
        suspended: Bool, name: String, versions: ProtocolVersions = .supported
    ) {
        frame(.hello) {
            $0.integer(Wire.magic)
            $0.integer(versions.newest)
            $0.integer(versions.oldest)
            $0.integer(UInt8(suspended ? 1 : 0))
            $0.string(name)
        }
    }
}
