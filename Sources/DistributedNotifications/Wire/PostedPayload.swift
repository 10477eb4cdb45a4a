/// What a post hands over, as it goes through the server: the parts of its bytes.
///
///     u8 flags (1 deliver immediately, 2 object, 4 userInfo)  name  [object]  userInfo to the end
struct PostedPayload {
    let flags: UInt8
    let name: UnsafeRawBufferPointer
    let object: UnsafeRawBufferPointer?
    let userInfo: UnsafeRawBufferPointer
    /// The bytes of flags, name and object.
    let headCount: Int

    static let immediately: UInt8 = 1
    static let hasObject: UInt8 = 2
    static let hasUserInfo: UInt8 = 4

    var isImmediate: Bool { flags & Self.immediately != 0 }

    /// Finds the parts. What is in the strings is not looked at; see `checkStrings`.
    init(_ payload: UnsafeRawBufferPointer) throws(WireError) {
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

    func checkStrings() throws(WireError) {
        guard !name.isEmpty else { throw .emptyName }
        try Self.check(name)
        if let object { try Self.check(object) }
    }

    static func check(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        guard !bytes.contains(0) else { throw .nul }
        guard String(utf8: bytes) != nil else { throw .notUTF8 }
    }
}
