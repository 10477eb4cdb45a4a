/// A block that is performed after a delay.
///
/// Threads: every member may be used on any thread.
public final class DelayedBlock: Sendable {
    let block: PerformedBlock

    init(_ block: PerformedBlock) {
        self.block = block
    }

    /// The block's outcome so far: `waiting`, `delivered` (it was begun), `cancelled` or `targetGone`.
    public var outcome: DeliveryOutcome { block.outcome }

    /// Cancels and releases the block.
    /// - Returns: false if the block was begun before, or its thread has ended.
    @discardableResult
    public func cancel() -> Bool { block.cancel() }
}
