/// The properties of one call of `post`, besides its notification.
struct Post {
    /// The post's number in events; 0 if nothing traced when it was posted.
    let number: UInt64
    /// The wait for the deliveries, if the call waits. Then what waits on this thread is delivered before this post.
    let wait: DeliveryWait?
    /// The location of the call.
    let location: SourceLocation
    /// The message, if it is posted as one. An address, because copying a larger struct would cost each post.
    private let messageAddress: UnsafePointer<PostedMessage>?

    @inline(__always)
    init(
        at location: SourceLocation, number: UInt64 = DeliveryEvent.nextPost(), wait: DeliveryWait? = nil,
        message: UnsafePointer<PostedMessage>? = nil
    ) {
        self.number = number
        self.wait = wait
        self.location = location
        messageAddress = message
    }

    /// The message, if it is posted as one.
    @inline(__always)
    var message: PostedMessage? { messageAddress?.pointee }

    /// The same post, for an observer that the call does not wait for.
    var withoutWait: Post { Post(at: location, number: number, message: messageAddress) }
}
