/// The handling of notifications for an observer that is slower than the posting threads.
///
/// A capacity is the number of notifications that may wait for the observer, at least 1. A dropped notification is
/// counted in `ObserverToken.counters`, reported by `post` and traced; `postAndWait` throws.
public enum OverflowPolicy: Sendable, Hashable {
    /// Any number may wait.
    case unbounded
    /// The oldest waiting notification is dropped for the new one.
    case dropOldest(capacity: Int)
    /// The new notification is dropped.
    case dropNewest(capacity: Int)
    /// One notification waits for each name and object. A new one replaces it, at the end of the mailbox. Objects are
    /// compared as for observers; an object that cannot be compared replaces nothing.
    case keepLatest
    /// The new notification is dropped, with the outcome `refused`.
    case refuse(capacity: Int)

    /// The value of `policy` in a record.
    package var kind: String {
        switch self {
        case .unbounded: "unbounded"
        case .dropOldest: "dropOldest"
        case .dropNewest: "dropNewest"
        case .keepLatest: "keepLatest"
        case .refuse: "refuse"
        }
    }

    package var capacity: Int? {
        switch self {
        case .unbounded, .keepLatest: nil
        case .dropOldest(let capacity), .dropNewest(let capacity), .refuse(let capacity): capacity
        }
    }
}
