public import Foundation

/// A message that has a notification's name, and is converted to and from a `Notification`.
///
/// These are the requirements that `NotificationCenter.AsyncMessage` and `NotificationCenter.MainActorMessage` have on
/// Apple's platforms and lack elsewhere. A message type that has these members conforms with an empty extension:
///
///     extension Saved: NotificationConvertible {}
///
/// Observers of the name then get the notifications of messages, and observers of the message get the messages of
/// notifications with the name. The name of a message that does not conform is the name of its type, as in Foundation.
/// Threads: `makeMessage` and `makeNotification` are called on the posting thread, so they are not isolated to an
/// actor. If `makeMessage` shares what the notification refers to, that is then used on the observer's thread too.
/// Cost: `name` is read once in a process. A conversion is made only if an observer needs it.
/// Source: Foundation's `NotificationCenter.AsyncMessage`.
public protocol NotificationConvertible: SendableMetatype {
    /// The name of the notification; by default the name of the type. It must always be the same.
    static var name: Notification.Name { get }

    /// Makes the message of a notification that was posted without one.
    /// - Returns: nil: observers of the message do not get the notification.
    static func makeMessage(_ notification: Notification) -> Self?

    /// Makes the notification for observers that do not observe the message. Its name and object are set afterwards.
    static func makeNotification(_ message: Self) -> Notification
}

extension NotificationConvertible {
    public static var name: Notification.Name { Notification.Name(_typeName(Self.self)) }

    /// Returns nil: by default, observers of the message get no notifications.
    public static func makeMessage(_ notification: Notification) -> Self? { nil }

    /// Returns a notification without userInfo.
    public static func makeNotification(_ message: Self) -> Notification { Notification(name: name) }
}
