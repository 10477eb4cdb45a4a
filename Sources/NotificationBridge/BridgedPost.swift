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

    /// The parts of a message that are the same for all posts of this machine.
    struct Envelope {
        let bridge: UInt64
        private let start: [UInt8]
        private let origin: [UInt8]

        init(bridge: UInt64, _ origin: DistributedNotification.Origin) {
            self.bridge = bridge
            var writer = FrameWriter()
            writer.integer(UInt8(Wire.version))
            writer.integer(bridge)
            start = writer.bytes
            writer = FrameWriter()
            writer.string(origin.machine)
            writer.string(origin.user)
            self.origin = writer.bytes
        }

        /// - Returns: nil if the post has no sequence, with which its receivers find losses and duplicates.
        func message(_ post: PostedPayload) -> [UInt8]? {
            guard let sequence = post.sequence else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(start.count + post.count + 16 + origin.count)
            bytes += start
            // The record is one of a recording of this machine.
            bytes.append(post.flags & ~PostedPayload.hasRecord | PostedPayload.hasOrigin)
            bytes += post.nameAndObject.bindMemory(to: UInt8.self)
            for number in [sequence.series, sequence.number] {
                withUnsafeBytes(of: number.littleEndian) { bytes += $0.bindMemory(to: UInt8.self) }
            }
            bytes += origin
            bytes += post.userInfo.bindMemory(to: UInt8.self)
            return bytes
        }
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
        // It would be taken for one of this machine's bridge.
        guard payload.flags & PostedPayload.hasRecord == 0 else { throw .unknown("flag of a post", "\(payload.flags)") }
        guard payload.hasUserInfo else { return }
        do throws(PropertyListReader.Problem) {
            try PropertyListReader.check(payload.userInfo)
        } catch {
            throw .unknown("form of a userInfo", "\(error)")
        }
    }
}
