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
    package mutating func hello(suspended: Bool, name: String, version: UInt16 = Wire.version) {
        frame(.hello) {
            $0.integer(Wire.magic)
            $0.integer(version)
            $0.integer(UInt8(suspended ? 1 : 0))
            $0.string(name)
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

    /// - Parameter number: the post's number in the poster's recording; 0 if it is not recorded.
    mutating func post(
        name: String, object: String?, userInfo: [String: PropertyListValue]?, deliverImmediately: Bool, number: UInt64
    ) throws(DistributedError) {
        var flags: UInt8 = 0
        if deliverImmediately { flags |= PostedPayload.immediately }
        if object != nil { flags |= PostedPayload.hasObject }
        if userInfo != nil { flags |= PostedPayload.hasUserInfo }
        if number != 0 { flags |= PostedPayload.hasNumber }
        try frame(.post) { writer throws(DistributedError) in
            writer.integer(flags)
            writer.string(name)
            if let object { writer.string(object) }
            if number != 0 { writer.integer(number) }
            try writer.userInfo(userInfo)
        }
    }
}
