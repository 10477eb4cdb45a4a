/// The handling of notifications for an observer that is slower than the posting threads.
///
/// A capacity is the number of notifications that may wait for the observer. Less than 1 stops the program. A dropped
/// notification is counted in `ObserverToken.counters`, reported by `post` and traced; `postAndWait` throws.
public struct OverflowPolicy: Sendable, Hashable {
    enum Rule: Hashable {
        case unbounded
        case dropOldest(capacity: Int)
        case dropNewest(capacity: Int)
        case keepLatest
        case refuse(capacity: Int)
    }

    let rule: Rule

    /// Any number may wait.
    public static let unbounded = OverflowPolicy(rule: .unbounded)
    /// One notification waits for each name and object. A new one replaces it, at the end of the mailbox. Objects are
    /// compared as for observers; an object that cannot be compared replaces nothing.
    public static let keepLatest = OverflowPolicy(rule: .keepLatest)

    /// The oldest waiting notification is dropped for the new one.
    public static func dropOldest(capacity: Int) -> OverflowPolicy {
        OverflowPolicy(rule: .dropOldest(capacity: checked(capacity)))
    }

    /// The new notification is dropped.
    public static func dropNewest(capacity: Int) -> OverflowPolicy {
        OverflowPolicy(rule: .dropNewest(capacity: checked(capacity)))
    }

    /// The new notification is dropped, with the outcome `refused`.
    public static func refuse(capacity: Int) -> OverflowPolicy {
        OverflowPolicy(rule: .refuse(capacity: checked(capacity)))
    }

    private static func checked(_ capacity: Int) -> Int {
        precondition(capacity > 0, "OverflowPolicy: a capacity of \(capacity) holds nothing. It must be at least 1.")
        return capacity
    }

    /// The value of `policy` in a record.
    package var kind: String {
        switch rule {
        case .unbounded: "unbounded"
        case .dropOldest: "dropOldest"
        case .dropNewest: "dropNewest"
        case .keepLatest: "keepLatest"
        case .refuse: "refuse"
        }
    }

    package var capacity: Int? {
        switch rule {
        case .unbounded, .keepLatest: nil
        case .dropOldest(let capacity), .dropNewest(let capacity), .refuse(let capacity): capacity
        }
    }
}
