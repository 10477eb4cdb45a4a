import ArgumentParser
import DistributedNotifications
import NotificationServer

extension ServerEvent {
    /// The level and the text of the event in the log of `serve`.
    var logEntry: (level: LogLevel, text: String) {
        func client(_ process: Int32, _ name: String) -> String { "process \(process) (\(name))" }
        switch self {
        case .started(let directory, let processID):
            return (.notice, "server \(processID) serves at \(directory.socketPath)")
        case .clientConnected(let process, let name): return (.info, "\(client(process, name)) has connected")
        case .clientGone(let process, let name, nil): return (.info, "\(client(process, name)) has disconnected")
        case .clientGone(let process, let name, let reason?):
            return (.notice, "\(client(process, name)) is disconnected: \(reason)")
        case .clientRefused(let process, let reason): return (.warning, "process \(process) is refused: \(reason)")
        case .dropping(let process, let name):
            return (.warning, "\(client(process, name)) reads too slowly: notifications for it are dropped")
        case .dropped(let process, let name, let count):
            return (.warning, "\(client(process, name)) has read what waited; \(count) notifications were dropped")
        case .outOfDescriptors: return (.error, description)
        case .stopping(let reason): return (.notice, "stopping: \(reason)")
        }
    }
}

/// How important a line of the log of `serve` is.
enum LogLevel: String, CaseIterable, ExpressibleByArgument, Comparable {
    case debug, info, notice, warning, error

    static func < (one: LogLevel, other: LogLevel) -> Bool {
        allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
    }
}
