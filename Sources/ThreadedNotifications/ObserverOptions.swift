/// The options of an observer.
public struct ObserverOptions: Sendable {
    /// How a notification is delivered that is posted on the target thread (guarantee 2).
    public var sameThread: SameThreadPolicy
    /// The number of notifications that may wait, and the handling of more (guarantee 12).
    public var overflow: OverflowPolicy

    /// Creates options. By default, notifications are delivered in order, and any number may wait.
    public init(sameThread: SameThreadPolicy = .ordered, overflow: OverflowPolicy = .unbounded) {
        self.sameThread = sameThread
        self.overflow = overflow
    }
}
