public import Foundation

/// A notification that a process of this computer posted.
public struct DistributedNotification: Sendable, Hashable {
    public var name: Notification.Name
    /// A string with which the poster identifies the sender.
    public var object: String?
    public var userInfo: [String: PropertyListValue]?
    /// The id of the process that posted it, as the kernel reports it.
    public var sender: Int32

    public init(
        name: Notification.Name, object: String? = nil, userInfo: [String: PropertyListValue]? = nil, sender: Int32
    ) {
        self.name = name
        self.object = object
        self.userInfo = userInfo
        self.sender = sender
    }
}
