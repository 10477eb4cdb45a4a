internal import DistributedNotifications

/// A post as bridges exchange it: the payload of a post frame, with its origin, after a short head.
///
///     u8 version of the protocol   u64 bridge   payload
struct BridgedPost {
    /// The bridge that published it.
    let bridge: UInt64
    let payload: PostedPayload
    /// Of the payload.
    let bytes: UnsafeRawBufferPointer

    /// The message for a post of this machine.
    /// - Returns: nil if the post has no sequence, so that nobody could find what is lost or comes twice.
    static func message(_ post: PostedPayload, from bridge: UInt64, _ origin: DistributedNotification.Origin)
        -> [UInt8]?
    {
        guard let sequence = post.sequence else { return nil }
        var writer = FrameWriter(capacity: post.count + 64)
        writer.integer(UInt8(Wire.version))
        writer.integer(bridge)
        // The record is one of a recording of this machine.
        writer.integer(post.flags & ~PostedPayload.hasRecord | PostedPayload.hasOrigin)
        writer.append(post.head.dropFirst())
        writer.integer(sequence.series)
        writer.integer(sequence.number)
        writer.string(origin.machine)
        writer.string(origin.user)
        writer.append(post.userInfo)
        return writer.bytes
    }

    /// Checks everything that a machine sent.
    /// - Parameter message: must outlive this value.
    init(_ message: UnsafeRawBufferPointer) throws(WireError) {
        var reader = WireReader(message)
        let version = try reader.integer(UInt8.self)
        guard version == UInt8(Wire.version) else { throw .unknown("version of the protocol", "\(version)") }
        bridge = try reader.integer(UInt64.self)
        bytes = reader.rest()
        guard bytes.count < Wire.frameLimit else { throw .frameLength(UInt32(clamping: bytes.count + 1)) }
        payload = try PostedPayload(bytes)
        try payload.checkStrings()
        guard payload.origin != nil, payload.sequence != nil else { throw .truncated }
        guard payload.hasUserInfo else { return }
        do throws(PropertyListReader.Problem) {
            try PropertyListReader.check(payload.userInfo)
        } catch {
            throw .unknown("form of a userInfo", "\(error)")
        }
    }
}
