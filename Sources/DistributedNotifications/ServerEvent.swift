/// What a server may say of itself while it runs; `notify-demo serve` logs it.
public enum ServerEvent: Sendable, Hashable {
    case started(place: ServerPlace, processID: Int32)
    case clientConnected(process: Int32, name: String)
    /// `reason` is nil if it said that it goes.
    case clientGone(process: Int32, name: String, reason: String?)
    /// Another user's process, one too many, or one that does not speak the protocol.
    case clientRefused(process: Int32, reason: String)
    /// Notifications for a process begin to be dropped.
    case dropping(process: Int32, name: String)
    /// The process has read what waited; so many were dropped.
    case dropped(process: Int32, name: String, count: Int)
    /// Nothing more can be accepted for now.
    case outOfDescriptors
    case stopping(reason: String)
}
