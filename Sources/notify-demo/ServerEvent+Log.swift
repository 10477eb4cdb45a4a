import DistributedNotifications
import Logging
import NotificationServer

extension ServerEvent {
    /// The level, message and metadata of the event's log entry.
    var logEntry: (level: Logger.Level, message: String, metadata: Logger.Metadata) {
        func client(_ process: Int32, _ name: String) -> Logger.Metadata {
            ["process": "\(process)", "name": "\(name)"]
        }
        switch self {
        case .started(let place, let processID):
            return (.notice, "serving", ["socket": "\(place.socketPath)", "process": "\(processID)"])
        case .clientConnected(let process, let name):
            return (.info, "connected", client(process, name))
        case .clientGone(let process, let name, nil):
            return (.info, "gone", client(process, name))
        case .clientGone(let process, let name, let reason?):
            return (.notice, "gone: \(reason)", client(process, name))
        case .clientRefused(let process, let reason):
            return (.warning, "refused: \(reason)", ["process": "\(process)"])
        case .dropping(let process, let name):
            return (.warning, "reads too slowly: notifications for it are dropped", client(process, name))
        case .dropped(let process, let name, let count):
            return (
                .warning, "reads again; notifications were dropped",
                client(process, name).merging(["count": "\(count)"]) { _, new in new }
            )
        case .outOfDescriptors:
            return (.error, "no process can be accepted: no descriptors are left (ulimit -n)", [:])
        case .stopping(let reason):
            return (.notice, "stopping: \(reason)", [:])
        }
    }
}
