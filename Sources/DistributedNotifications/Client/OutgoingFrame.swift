/// A frame to send. That of a post gets its sequence when it is sent.
struct OutgoingFrame {
    private(set) var bytes: [UInt8]
    /// Where a post has its name and object, and after them its sequence; 0 if it is no post.
    private var (nameAndObject, sequence) = (0..<0, 0)

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter record: the post's number in the poster's recording; 0 if it is not recorded.
    init(
        postOf name: String, object: String?, userInfo: [String: PropertyListValue]?, deliverImmediately: Bool,
        record: UInt64
    ) throws(DistributedError) {
        self.init(bytes: [])
        var flags = PostedPayload.hasSequence
        if deliverImmediately { flags |= PostedPayload.immediately }
        if object != nil { flags |= PostedPayload.hasObject }
        if userInfo != nil { flags |= PostedPayload.hasUserInfo }
        if record != 0 { flags |= PostedPayload.hasRecord }
        // Memory that is not written costs nothing, and a larger frame is never copied.
        var writer = FrameWriter(capacity: Wire.lengthBytes + Wire.frameLimit)
        try writer.frame(.post) { writer throws(DistributedError) in
            writer.integer(flags)
            let start = writer.bytes.count
            writer.string(name)
            if let object { writer.string(object) }
            nameAndObject = start..<writer.bytes.count
            if record != 0 { writer.integer(record) }
            sequence = writer.bytes.count
            // Series and number.
            writer.integer(UInt128(0))
            try writer.userInfo(userInfo)
        }
        bytes = writer.bytes
    }

    var isPost: Bool { sequence > 0 }

    mutating func setSequence(_ numbers: inout PostNumbers) {
        guard isPost else { return }
        bytes.withUnsafeMutableBytes { [nameAndObject, sequence] bytes in
            let next = numbers.next(UnsafeRawBufferPointer(rebasing: bytes[nameAndObject]))
            bytes.storeBytes(of: next.series.littleEndian, toByteOffset: sequence, as: UInt64.self)
            bytes.storeBytes(of: next.number.littleEndian, toByteOffset: sequence + 8, as: UInt64.self)
        }
    }
}
