/// The parts of a post's payload. The server passes the payload on unchanged.
///
///     u8 flags (1 deliver immediately, 2 object, 4 userInfo, 8 number)  name  [object]  [u64 number]
///     userInfo, the rest
package struct PostedPayload {
    package let flags: UInt8
    package let name: UnsafeRawBufferPointer
    package let object: UnsafeRawBufferPointer?
    /// The number of bytes of flags, name and object, with which the payload begins.
    package let headCount: Int
    /// The post's number in the poster's recording; 0 if it was not recorded.
    package let number: UInt64
    package let userInfo: UnsafeRawBufferPointer
    private let bytes: UnsafeRawBufferPointer

    package static let immediately: UInt8 = 1
    package static let hasObject: UInt8 = 2
    package static let hasUserInfo: UInt8 = 4
    package static let hasNumber: UInt8 = 8

    package var count: Int { bytes.count }
    /// Flags, name and object.
    package var head: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<headCount]) }
    package var isImmediate: Bool { flags & Self.immediately != 0 }
    package var hasUserInfo: Bool { flags & Self.hasUserInfo != 0 }

    /// Finds the parts. It does not check the strings; see `checkStrings`.
    package init(_ payload: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(payload)
        flags = try reader.integer(UInt8.self)
        guard flags & ~(Self.immediately | Self.hasObject | Self.hasUserInfo | Self.hasNumber) == 0 else {
            throw .unknown("flag of a post", "\(flags)")
        }
        name = try reader.stringBytes(limit: Wire.nameLimit)
        object = flags & Self.hasObject != 0 ? try reader.stringBytes(limit: Wire.objectLimit) : nil
        headCount = reader.offset
        number = flags & Self.hasNumber != 0 ? try reader.integer(UInt64.self) : 0
        userInfo = reader.rest()
        bytes = payload
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
