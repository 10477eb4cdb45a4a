internal import DistributedNotifications
internal import Glibc

/// The recipients of notifications with one name and object. A client that posts the same again needs no lookup.
struct Route {
    /// A client, and those of its observers that match.
    struct Recipient {
        var client: ServerClient
        var observers: [MatchingObserver]
    }

    /// Name and object, as in the payload, after the flags.
    private let head: [UInt8]
    private let hasObject: Bool
    /// The table's when the recipients were looked up.
    private let version: UInt64
    let recipients: [Recipient]

    init(_ posted: PostedPayload, _ payload: UnsafeRawBufferPointer, version: UInt64, recipients: [Recipient]) {
        head = Array(payload[1..<posted.headCount])
        hasObject = posted.object != nil
        self.version = version
        self.recipients = recipients
    }

    /// Whether these are the recipients of a post.
    func isRoute(of posted: PostedPayload, _ payload: UnsafeRawBufferPointer, version: UInt64) -> Bool {
        guard version == self.version, posted.headCount - 1 == head.count, hasObject == (posted.object != nil),
            let start = payload.baseAddress
        else { return false }
        return head.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memcmp($0, start + 1, bytes.count) == 0 } ?? false
        }
    }
}
