/// How the server handles a notification for an observer in a process that has suspended delivery.
///
/// While delivery is not suspended, every notification is delivered at once.
/// - Source: "Registering for Distributed Notifications", the table of suspension behaviors.
public enum SuspensionBehavior: String, Sendable, Hashable, CaseIterable, Codable {
    /// Discards it. It is not part of a gap.
    case drop
    /// Holds the last notification of each name and object, and delivers it at resumption. The default.
    case coalesce
    /// Holds all notifications up to the server's limit, and delivers them at resumption. At the limit the oldest is
    /// discarded, counted, and reported as a gap.
    case hold
    /// Delivers it at once, after everything that is held for the process.
    case deliverImmediately
}
