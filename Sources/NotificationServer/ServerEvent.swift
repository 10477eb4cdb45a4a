public import DistributedNotifications

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

extension ServerEvent: CustomStringConvertible {
    /// A line of a log.
    public var description: String {
        switch self {
        case .started(let place, let process): "process \(process) serves at \(place.socketPath)"
        case .clientConnected(let process, let name): "process \(process) (\(name)) connected"
        case .clientGone(let process, let name, let reason):
            "process \(process) (\(name)) disconnected\(reason.map { ": \($0)" } ?? "")"
        case .clientRefused(let process, let reason): "process \(process) was refused: \(reason)"
        case .dropping(let process, let name):
            "process \(process) (\(name)) reads too slowly: notifications for it are dropped"
        case .dropped(let process, let name, let count):
            "process \(process) (\(name)) has read what waited; \(count) notifications for it were dropped"
        case .outOfDescriptors: "no process can be accepted: the server has no descriptor left (ulimit -n)"
        case .stopping(let reason): "stopping: \(reason)"
        }
    }
}
