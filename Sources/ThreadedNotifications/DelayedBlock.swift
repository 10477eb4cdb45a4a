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

    let block: PerformedBlock
    private let delay: DelayQueue.ID

    init(_ block: PerformedBlock, after delay: Duration) {
        self.block = block
        self.delay = DelayQueue.shared.insert(block, at: .after(delay))
    }

    /// What became of the block by now.
    public var outcome: Outcome { block.outcome }

    /// Cancels the block, and releases what it holds.
    /// - Returns: whether it will not be performed; false if it was begun, or lost its thread.
    @discardableResult
    public func cancel() -> Bool {
        DelayQueue.shared.remove(delay)
        return block.cancel()
    }
}
