/// A change of the connection between a center and its server, or a loss of notifications.
public enum ConnectionEvent: Sendable, Hashable {
    /// The server answered. The center's observers and its suspension are registered with it.
    case connected(serverProcess: Int32)
    /// The connection ended although this center was not closed: the server crashed, or ended the connection.
    /// Notifications that were under way or held for this process are lost, and their number is unknown. The center
    /// connects again by itself.
    case interrupted(reason: String)
    /// A known number of notifications was lost.
    case gap(NotificationGap)
    /// The server could be neither reached nor started. The center tries again.
    case failed(DistributedError)
}

/// A number of notifications that were not delivered.
public struct NotificationGap: Sendable, Hashable {
    /// How many notifications were lost, with those for observers that were removed since.
    public var count: Int
    public var cause: Cause
    /// How many each observer lost, by `ObserverToken.id`. A lost notification counts for each observer that it
    /// matched. Empty for `undecodable`.
    public var observers: [UInt64: Int]
    /// What was wrong with the first one, for `unreadable` and `undecodable`.
    public var problem: String?

    public enum Cause: String, Sendable, Hashable, CaseIterable, Codable {
        /// The process read more slowly than others posted.
        case slow
        /// More notifications came while the process was suspended than the server holds.
        case held
        /// The process's threads handled them too slowly, or did not run their run loops.
        case waiting
        /// The poster sent a userInfo that is not a property list.
        case unreadable
        /// The userInfo is not of the type that the observer asked for; see `problem`.
        case undecodable
    }

    public init(count: Int, cause: Cause, observers: [UInt64: Int] = [:], problem: String? = nil) {
        (self.count, self.cause, self.observers, self.problem) = (count, cause, observers, problem)
    }
}

/// The state of a center's connection to its server.
public enum ConnectionState: Sendable, Hashable {
    /// The center has not been used.
    case unused
    /// The center is looking for a server, or starting one.
    case connecting
    case connected(serverProcess: Int32)
    /// The last attempt to connect failed. The center tries again.
    case failed(DistributedError)
    case closed
}
