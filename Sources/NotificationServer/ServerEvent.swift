public import DistributedNotifications

/// Something that happened in a server, for its log.
public enum ServerEvent: Sendable, Hashable {
    case started(directory: ServerDirectory, processID: Int32)
    case clientConnected(process: Int32, name: String)
    /// `reason` is nil if it closed the connection itself.
    case clientGone(process: Int32, name: String, reason: String?)
    /// It belongs to another user, too many are connected, or it does not follow the protocol.
    case clientRefused(process: Int32, reason: String)
    /// From now on notifications for the process are dropped.
    case dropping(process: Int32, name: String)
    /// The process has caught up; `count` notifications were dropped for it.
    case dropped(process: Int32, name: String, count: Int)
    /// No process can be accepted for the moment.
    case outOfDescriptors
    case stopping(reason: String)
}

extension ServerEvent: CustomStringConvertible {
    /// A line of a log.
    public var description: String {
        switch self {
        case .started(let directory, let process): "process \(process) serves at \(directory.socketPath)"
        case .clientConnected(let process, let name): "process \(process) (\(name)) connected"
        case .clientGone(let process, let name, let reason):
            "process \(process) (\(name)) disconnected\(reason.map { ": \($0)" } ?? "")"
        case .clientRefused(let process, let reason): "process \(process) was refused: \(reason)"
        case .dropping(let process, let name):
            "process \(process) (\(name)) reads too slowly: notifications for it are dropped"
        case .dropped(let process, let name, let count):
            "process \(process) (\(name)) has caught up; \(count) notifications for it were dropped"
        case .outOfDescriptors:
            "no file descriptor is left (ulimit -n): new processes are refused until others disconnect"
        case .stopping(let reason): "stopping: \(reason)"
        }
    }
}
