internal import Foundation

/// One call of `post`, besides its notification.
struct Post {
    /// The post's number in events; 0 if nothing traced when it was posted.
    var number = DeliveryEvent.nextPost()
    /// The location of the call.
    var location: SourceLocation
    /// The wait for the deliveries, if the call waits. Then what waits on this thread is delivered before this post.
    var wait: DeliveryWait?
    /// The message, if it is posted as one.
    var message: PostedMessage?
}

/// A message that is posted.
final class PostedMessage: Sendable {
    let payload: Payload
    let type: ObjectIdentifier
    let name: MessageName
    private let makeNotification: @Sendable () -> Notification?

    init<Message>(_ message: Message) {
        name = MessageName.of(Message.self)
        type = ObjectIdentifier(Message.self)
        let payload = PayloadValue(message, named: name.name)
        self.payload = payload
        makeNotification = { (payload.value as? any NotificationConvertible)?.madeNotification }
    }

    /// The notification for observers that do not get the message. Calls foreign code.
    func notification(about subject: AnyObject?) -> Notification {
        Notification(name: name.name, object: subject, userInfo: makeNotification()?.userInfo)
    }
}

extension NotificationConvertible {
    fileprivate var madeNotification: Notification { Self.makeNotification(self) }
}
