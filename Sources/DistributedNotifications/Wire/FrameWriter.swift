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

    // MARK: The frames of a client

    /// The first one.
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

    package mutating func register(_ number: UInt32, name: String?, object: String?, behavior: SuspensionBehavior) {
        frame(.register) {
            $0.integer(number)
            $0.integer(behavior.wireValue)
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
        let start = beginFrame(.post)
        integer(flags)
        string(name)
        if let object { string(object) }
        if number != 0 { integer(number) }
        try self.userInfo(userInfo)
        endFrame(from: start)
    }
}
