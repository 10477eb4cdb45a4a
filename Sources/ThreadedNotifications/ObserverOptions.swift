public import Foundation

/// What may be chosen about an observer; the defaults are right for most.
public struct ObserverOptions: Sendable {
    /// The run loop modes in which notifications are delivered; in others they wait (guarantee 9). Not empty.
    /// A thread that runs no run loop counts as in the default mode.
    public var modes: Set<RunLoop.Mode>
    /// What happens to a notification that is posted on the target thread itself (guarantee 2).
    public var sameThread: SameThreadPolicy
    /// How many may wait for this observer, and what happens to more (guarantee 12).
    public var overflow: OverflowPolicy

    /// All common modes, in order, and any number may wait, unless said otherwise.
    public init(
        modes: Set<RunLoop.Mode> = [.common], sameThread: SameThreadPolicy = .ordered,
        overflow: OverflowPolicy = .unbounded
    ) {
        self.modes = modes
        self.sameThread = sameThread
        self.overflow = overflow
    }
}

/// What happens to a notification that is posted on its target thread.
public enum SameThreadPolicy: Sendable, Hashable {
    /// It is delivered before `post` returns if nothing waits there that could be delivered now; else it joins the end of
    /// the mailbox. Nested more than 100 deep, it joins the end as well, so that a handler that posts to itself without
    /// end neither runs out of stack nor keeps the run loop from its work.
    case ordered
    /// It is always delivered before `post` returns, in any run loop mode, and may overtake what waits: the document's
    /// rule. Nested 250 deep it stops the program.
    case atOnce
}

/// What happens to notifications for an observer that does not keep up. Capacities count what waits for that observer, and
/// are at least 1. What is dropped is counted in `ObserverToken.counters`, reported to the poster and traced; a `post` that waits
/// for its delivery throws.
public enum OverflowPolicy: Sendable, Hashable {
    /// Any number may wait.
    case unbounded
    /// The one that has waited longest is dropped for the new one.
    case dropOldest(capacity: Int)
    /// The new one is dropped.
    case dropNewest(capacity: Int)
    /// One for each name and object: a new one takes the place of what waits under the same, at the end. Objects are compared
    /// as observers' are; what can be compared with nothing never takes another's place.
    case keepLatest
    /// `post` waits for room, for that long at most; then the new one is dropped. It is dropped at once if waiting would
    /// never end: on the target thread itself, or in a cycle of waiting threads.
    case block(capacity: Int, timeout: Duration)
    /// The new one is dropped, and the poster is told so: `DeliveryCounters.refused`.
    case refuse(capacity: Int)

    /// As a dropped notification's record names it: `dropOldest(3)`.
    var name: String {
        switch self {
        case .unbounded: "unbounded"
        case .dropOldest(let capacity): "dropOldest(\(capacity))"
        case .dropNewest(let capacity): "dropNewest(\(capacity))"
        case .keepLatest: "keepLatest"
        case .block(let capacity, _): "block(\(capacity))"
        case .refuse(let capacity): "refuse(\(capacity))"
        }
    }

    var capacity: Int? {
        switch self {
        case .unbounded, .keepLatest: nil
        case .dropOldest(let capacity), .dropNewest(let capacity), .block(let capacity, _), .refuse(let capacity):
            capacity
        }
    }
}
