/// Writes frames to an array of bytes.
package struct FrameWriter {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    package mutating func frame(_ kind: FrameKind) { frame(kind) { _ in } }

    /// Appends a frame; `body` writes its payload.
    package mutating func frame<Failure: Error>(
        _ kind: FrameKind, _ body: (inout FrameWriter) throws(Failure) -> Void
    ) throws(Failure) {
        let start = bytes.count
        integer(UInt32(0))
        integer(kind.rawValue)
        try body(&self)
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

    package mutating func append(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    // MARK: The frames of a client

    /// The first one.
    /// - Parameter key: of a kept client, see the article *Distributed Notifications*; nil: an ordinary one.
    package mutating func hello(
        suspended: Bool = false, name: String, keptAs key: String? = nil, version: UInt16 = Wire.version
    ) {
        frame(.hello) {
            $0.integer(Wire.magic)
            $0.integer(version)
            $0.integer((suspended ? 1 : 0) as UInt8 | (key == nil ? 0 : 2))
            $0.string(name)
            if let key { $0.string(key) }
        }
    }

    package mutating func register(_ number: UInt32, name: String?, object: String?, behavior: SuspensionBehavior) {
        frame(.register) {
            $0.integer(number)
            $0.string(behavior.rawValue)
            $0.integer((name == nil ? 0 : 1) as UInt8 | (object == nil ? 0 : 2))
            if let name { $0.string(name) }
            if let object { $0.string(object) }
        }
    }

    /// Begins a kept client's notifications, with 0, and later has the number of those that need not be sent again.
    package mutating func acknowledge(_ count: UInt64) { frame(.acknowledge) { $0.integer(count) } }

    /// What the server's status says of this client.
    package mutating func details(_ details: [String: String]) throws(DistributedError) {
        try frame(.details) { writer throws(DistributedError) in
            try writer.userInfo(details.mapValues { .string($0) })
        }
    }
}
