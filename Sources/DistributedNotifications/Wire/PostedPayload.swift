/// The parts of a post's payload. The server passes the payload on unchanged.
///
///     u8 flags (1 deliver immediately, 2 object, 4 userInfo, 8 record, 16 sequence, 32 origin)  name  [object]
///     [u64 record]  [u64 series, u64 number]  [machine, user]  userInfo, the rest
package struct PostedPayload {
    package let flags: UInt8
    package let name: UnsafeRawBufferPointer
    package let object: UnsafeRawBufferPointer?
    /// As in the frame.
    package let nameAndObject: UnsafeRawBufferPointer
    /// The post's number in the poster's recording; 0 if it was not recorded.
    package let record: UInt64
    /// Nil only if it is not of a center.
    package let sequence: PostSequence?
    /// The machine and the user of the poster; nil if it posted on this machine.
    package let origin: (machine: UnsafeRawBufferPointer, user: UnsafeRawBufferPointer)?
    package let userInfo: UnsafeRawBufferPointer
    /// Of the payload.
    package let count: Int

    package static let immediately: UInt8 = 1
    package static let hasObject: UInt8 = 2
    package static let hasUserInfo: UInt8 = 4
    package static let hasRecord: UInt8 = 8
    package static let hasSequence: UInt8 = 16
    package static let hasOrigin: UInt8 = 32
    private static let allFlags: UInt8 = 63

    package var isImmediate: Bool { flags & Self.immediately != 0 }
    package var hasUserInfo: Bool { flags & Self.hasUserInfo != 0 }

    /// Finds the parts. It does not check the strings; see `checkStrings`.
    package init(_ payload: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(payload)
        flags = try reader.integer(UInt8.self)
        guard flags & ~Self.allFlags == 0 else {
            throw .unknown("flag of a post", "\(flags)")
        }
        name = try reader.stringBytes(limit: Wire.nameLimit)
        object = flags & Self.hasObject != 0 ? try reader.stringBytes(limit: Wire.objectLimit) : nil
        nameAndObject = UnsafeRawBufferPointer(rebasing: payload[1..<reader.offset])
        record = flags & Self.hasRecord != 0 ? try reader.integer(UInt64.self) : 0
        sequence = flags & Self.hasSequence != 0 ? try PostSequence(&reader) : nil
        origin =
            flags & Self.hasOrigin != 0
            ? (try reader.stringBytes(limit: Wire.originLimit), try reader.stringBytes(limit: Wire.originLimit)) : nil
        userInfo = reader.rest()
        count = payload.count
        guard userInfo.count <= Wire.userInfoLimit else {
            throw .tooLong(userInfo.count, limit: Wire.userInfoLimit)
        }
        guard flags & Self.hasUserInfo != 0 || userInfo.isEmpty else { throw .trailing(userInfo.count) }
    }

    package func checkStrings() throws(WireError) {
        guard !name.isEmpty else { throw .emptyName }
        try Self.check(name)
        if let object { try Self.check(object) }
        if let origin {
            try Self.check(origin.machine)
            try Self.check(origin.user)
        }
    }

    private static func check(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        guard !bytes.contains(0) else { throw .nul }
        guard (try? UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)) != nil else { throw .notUTF8 }
    }
}
