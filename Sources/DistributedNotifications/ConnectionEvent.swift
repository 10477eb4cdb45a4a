/// What happens between a center and its server, beside notifications.
public enum ConnectionEvent: Sendable, Hashable {
    /// The server answers. What was observed before is registered with it, and suspended if it was.
    case connected(serverProcess: Int32)
    /// The connection ended without being closed here: the server crashed, or ended it. What was on its way, and what was held
    /// for this process, is lost, and how much that is nobody knows. The center connects again by itself.
    case interrupted(reason: String)
    /// Notifications were lost, and how many is known.
    case gap(NotificationGap)
    /// The server can be neither reached nor started. The center goes on trying.
    case failed(DistributedError)
}

/// Notifications that were not delivered, and are counted.
public struct NotificationGap: Sendable, Hashable {
    /// How many notifications.
    public var count: Int
    public var cause: Cause
    /// For which observers how many, by `ObserverToken.id`; a notification may be for several.
    public var observers: [UInt64: Int]

    public enum Cause: String, Sendable, Hashable, CaseIterable, Codable {
        /// The process did not read as fast as others posted.
        case slow
        /// More were held while it was suspended than the server holds.
        case held
        /// They waited in the process for threads that do not handle them as fast, or do not run their run loops.
        case waiting
        /// The poster sent what is no property list.
        case unreadable
    }

    public init(count: Int, cause: Cause, observers: [UInt64: Int] = [:]) {
        self.count = count
        self.cause = cause
        self.observers = observers
    }
}
