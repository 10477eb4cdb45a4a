/// The parts of a post's payload. The server passes the payload on unchanged.
///
///     u8 flags (1 deliver immediately, 2 object, 4 userInfo)  name  [object]  userInfo, the rest
package struct PostedPayload {
    package let flags: UInt8
    package let name: UnsafeRawBufferPointer
    package let object: UnsafeRawBufferPointer?
    package let userInfo: UnsafeRawBufferPointer
    /// The bytes of flags, name and object.
    package let headCount: Int

    package static let immediately: UInt8 = 1
    package static let hasObject: UInt8 = 2
    package static let hasUserInfo: UInt8 = 4

    package var isImmediate: Bool { flags & Self.immediately != 0 }

    /// Finds the parts. It does not check the strings; see `checkStrings`.
    package init(_ payload: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(payload)
        flags = try reader.integer(UInt8.self)
        guard flags & ~(Self.immediately | Self.hasObject | Self.hasUserInfo) == 0 else {
            throw .unknown("flag of a post", flags)
        }
        name = try reader.stringBytes(limit: Wire.nameLimit)
        object = flags & Self.hasObject != 0 ? try reader.stringBytes(limit: Wire.objectLimit) : nil
        headCount = reader.offset
        userInfo = reader.rest()
        guard userInfo.count <= Wire.userInfoLimit else {
            throw .tooLong(userInfo.count, limit: Wire.userInfoLimit)
        }
        guard flags & Self.hasUserInfo != 0 || userInfo.isEmpty else { throw .trailing(userInfo.count) }
    }

    package func checkStrings() throws(WireError) {
        guard !name.isEmpty else { throw .emptyName }
        try Self.check(name)
        if let object { try Self.check(object) }
    }

    package static func check(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        guard !bytes.contains(0) else { throw .nul }
        guard String(utf8: bytes) != nil else { throw .notUTF8 }
    }
}
