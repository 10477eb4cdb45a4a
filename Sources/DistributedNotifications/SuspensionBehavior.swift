/// What the server does with a notification for an observer whose process has suspended delivery.
///
/// While it is not suspended, each is delivered as it comes.
/// Source: "Registering for Distributed Notifications", the table of suspension behaviors.
public enum SuspensionBehavior: String, Sendable, Hashable, CaseIterable, Codable {
    /// It is discarded. That is by contract, so it is in no gap.
    case drop
    /// The last of each name and object is kept, and delivered at resumption. The default.
    case coalesce
    /// All are kept, up to the server's limit, and delivered at resumption. At the limit the oldest is discarded, counted, and
    /// shown as a gap.
    case hold
    /// It is delivered at once, after all that is kept for the process.
    case deliverImmediately
}
