/// A block that is performed after a delay: to cancel it, or to see what became of it. Any thread may do either.
public final class DelayedBlock: Sendable {
    let block: PerformedBlock
    private let delay: DelayQueue.ID

    init(_ block: PerformedBlock, after delay: Duration) {
        self.block = block
        self.delay = DelayQueue.shared.insert(block, at: .after(delay))
    }

    /// The block's outcome so far: `waiting`, `delivered` (it was begun), `cancelled` or `targetGone`.
    public var outcome: DeliveryOutcome { block.outcome }

    /// Cancels the block, and releases what it holds.
    /// - Returns: whether it will not be performed; false if it was begun, or lost its thread.
    @discardableResult
    public func cancel() -> Bool {
        DelayQueue.shared.remove(delay)
        return block.cancel()
    }
}
