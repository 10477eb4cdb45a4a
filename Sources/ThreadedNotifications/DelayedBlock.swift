/// A block that is performed after a delay: to cancel it, or to see what became of it. Any thread may do either.
public final class DelayedBlock: Sendable {
    /// What became of the block.
    public enum Outcome: Sendable, Hashable {
        /// The delay has not passed, or the thread has not come to it.
        case waiting
        /// It was begun.
        case performed
        /// It was cancelled before it was begun.
        case cancelled
        /// The thread ended first.
        case targetGone
    }

    private let block: PerformedBlock

    init(_ block: PerformedBlock) {
        self.block = block
    }

    /// What became of the block by now.
    public var outcome: Outcome { block.outcome }

    /// Cancels the block, and lets go of what it holds.
    /// - Returns: whether it will not be performed; false if it was begun, or lost its thread.
    @discardableResult
    public func cancel() -> Bool { block.cancel() }
}
