/// A block that is performed after a delay.
///
/// Threads: every member may be used on any thread.
public final class DelayedBlock: Sendable {
    let block: PerformedBlock
    private let delay: DelayQueue.ID

    init(_ block: PerformedBlock, after delay: Duration) {
        self.block = block
        self.delay = DelayQueue.shared.insert(block, at: .after(delay))
    }

    /// The block's outcome so far: `waiting`, `delivered` (it was begun), `cancelled` or `targetGone`.
    public var outcome: DeliveryOutcome { block.outcome }

    /// Cancels and releases the block.
    /// - Returns: false if the block was begun before, or its thread has ended.
    @discardableResult
    public func cancel() -> Bool {
        DelayQueue.shared.remove(delay)
        return block.cancel()
    }
}
