internal import DistributedNotifications

/// A notification that is held for suspended clients; they share its bytes.
struct HeldNotification: HeldPost {
    var key: PostKey
    var sender: Int32
    var payload: [UInt8]

    var byteCount: Int { payload.count }

    init(_ posted: PostedPayload, _ payload: UnsafeRawBufferPointer, sender: Int32) {
        key = PostKey(name: ByteString(posted.name), object: posted.object.map { ByteString($0) })
        self.sender = sender
        self.payload = Array(payload)
    }
}
