public import Foundation

/// The options of an observer.
public struct ObserverOptions: Sendable {
    /// The run loop modes in which notifications are delivered; in other modes they wait (guarantee 9). Not empty.
    /// A thread that does not run its run loop is treated as if it ran in the default mode.
    public var modes: Set<RunLoop.Mode>
    /// How a notification is delivered that is posted on the target thread (guarantee 2).
    public var sameThread: SameThreadPolicy
    /// The number of notifications that may wait, and the handling of more (guarantee 12).
    public var overflow: OverflowPolicy

    /// Creates options. By default, notifications are delivered in all common modes, in order, and any number may wait.
    public init(
        modes: Set<RunLoop.Mode> = commonModes, sameThread: SameThreadPolicy = .ordered,
        overflow: OverflowPolicy = .unbounded
    ) {
        self.modes = modes
        self.sameThread = sameThread
        self.overflow = overflow
    }

    /// Made once: a set costs an allocation and a hash, a tenth of the cost of adding an observer.
    @usableFromInline static let commonModes: Set<RunLoop.Mode> = [.common]
}
