public import Foundation

/// A notification that came from a process of this computer, the own one included.
public struct DistributedNotification: Sendable, Hashable {
    public var name: Notification.Name
    /// The string that says whose notification it is.
    public var object: String?
    public var userInfo: [String: PropertyListValue]?
    /// The process that posted it, as the kernel told the server.
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
