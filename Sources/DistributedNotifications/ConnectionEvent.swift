/// A change of the connection between a center and its server, or a loss of notifications.
public enum ConnectionEvent: Sendable, Hashable {
    /// The server answered. The center's observers and its suspension are registered with it.
    case connected(serverProcess: Int32)
    /// The connection ended: the server crashed, or ended it. Notifications that were under way or held for this
    /// process are lost; see `NotificationGap.Cause.missing`. The center connects again by itself.
    case interrupted(reason: String)
    /// A known number of notifications was lost.
    case gap(NotificationGap)
    /// The server could be neither reached nor started. The center tries again.
    case failed(DistributedError)
}

/// A number of notifications that were not delivered.
public struct NotificationGap: Sendable, Hashable {
    /// How many were lost, with those for observers that were removed since. One that several observers matched counts
    /// once.
    public var count: Int
    public var cause: Cause
    /// What was wrong with the first one, for `unreadable` and `undecodable`.
    public var problem: String?

    public enum Cause: String, Sendable, Hashable, CaseIterable, Codable {
        /// The process read more slowly than others posted.
        case slow
        /// More notifications came while the process was suspended than the server holds.
        case held
        /// The numbers that a poster gives to its notifications skip some: those were lost with a server, or between
        /// machines. They are found when the poster's next notification of the same name and object is received.
        case missing
        /// The poster sent a userInfo that is not a property list.
        case unreadable
        /// The userInfo is not of the type that the observer asked for; see `problem`.
        case undecodable
    }

    public init(count: Int, cause: Cause, problem: String? = nil) {
        (self.count, self.cause, self.problem) = (count, cause, problem)
    }
}
