internal import Foundation

extension DeliveryTarget {
    /// Performs a block on this thread.
    ///
    /// On this thread itself, the block is performed before the call returns, if nothing waits for the thread.
    /// Otherwise it is appended to the thread's mailbox, and the call returns at once; the thread's run loop performs
    /// it in a common mode. A block that calls `Thread.exit()` ends the thread.
    /// Order: blocks and notifications for a thread are handled in the order in which they were performed and posted.
    /// Cost: a lock, and about 100 bytes until the block is performed; a signal when nothing waited for the thread.
    /// - Throws: `DeliveryError` with the code `threadNotStarted`, or `threadStopped` if the thread was told to stop or
    ///   has ended. An accepted block is performed, unless its thread ends otherwise; then it is traced as
    // `targetGone`.
    @_disfavoredOverload
    public func perform(_ block: @escaping @Sendable () -> Void) throws(DeliveryError) {
        let post = DeliveryEvent.nextPost()
        if let mailbox = targetThread.mailbox, !mailbox.isCurrent || ThreadContext.withCurrent(\.mustWait) {
            return try mailbox.enqueue(block, post: post)
        }
        ThreadContext.withCurrent { context in
            context.nest("a block") { context.perform(block, post: post, wait: nil) }
        }
    }

    /// Performs a block on this thread when its run loop next delivers, in its common run loop modes.
    ///
    /// As `perform`, but on this thread itself too the block comes after the code that runs, and after everything that
    /// waits. Of `.postingThread`, it is performed on the calling thread, which must run its run loop; see `.current`.
    /// While the block waits, posts on this thread for ordered observers wait too.
    @_disfavoredOverload
    public func performLater(_ block: @escaping @Sendable () -> Void) throws(DeliveryError) {
        let thread = targetThread.mailbox == nil ? CurrentThread.current.targetThread : targetThread
        try thread.mailbox?.enqueue(block, post: DeliveryEvent.nextPost())
    }

    /// Performs a block on this thread and waits until it has returned. It blocks the calling thread.
    ///
    /// On this thread itself, everything that waits is delivered first, then the block is performed, in any run loop
    /// mode. Notifications and blocks from the handlers come after the block, when the run loop next delivers. The
    /// calling thread does not run its run loop while it waits for another one.
    /// - Parameter timeout: the longest wait; negative counts as zero. A block that has not begun by then is not
    ///   performed; a block that has begun continues.
    /// - Returns: the block's value.
    /// - Throws: the block's error; or `DeliveryError` with the code `notDeliveredInTime`, `waitWouldDeadlock` (the
    ///   block was not performed), `threadNotStarted`, `threadStopped`, or `threadEnded` if the thread ends meanwhile.
    @available(*, noasync, message: "it blocks the thread; perform without waiting") @_disfavoredOverload
    public func performAndWait<Value: Sendable>(
        timeout: Duration, file: String = #fileID, line: Int = #line, _ block: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let mailbox = targetThread.mailbox
        let result = Locked<Result<Value, any Error>?>(nil)
        let body: @Sendable () -> Void = {
            let value = Result(catching: block)
            result.withLock { $0 = value }
        }
        if let mailbox, !mailbox.isCurrent {
            if let reason = mailbox.reasonNotToWait { throw reason }
            let wait = try DeliveryWait(
                for: [WaitGraph.Target(kind: .delivery, thread: mailbox.identity)], of: nil,
                at: SourceLocation(file, line))
            let performed = PerformedBlock(for: mailbox, wait: wait, body)
            performed.enqueue()
            do throws(DeliveryError) {
                try wait.wait(timeout: timeout)
            } catch {
                performed.cancel()
                if result.withLock({ $0 == nil }) { throw error }
            }
        } else {
            let performed = PerformedBlock(for: mailbox, wait: nil, body)
            ThreadContext.withCurrent { context in
                // A thread that was told to stop accepts no block.
                if let mailbox, mailbox.enqueue(Delivery(.performed(performed), post: performed.post)) == nil {
                    Drain.run(context, until: { performed.outcome != .waiting })
                } else {
                    if mailbox != nil { Drain.run(context, ignoresBudget: true) }
                    context.nest("a block") { performed.perform() }
                }
            }
        }
        guard let value = result.withLock({ $0 }) else {
            preconditionFailure("DeliveryTarget: a block was performed without a result, a defect of this package.")
        }
        return try value.get()
    }

    /// Performs a block on this thread after a delay, in its common run loop modes.
    ///
    /// The calling thread need not run its run loop, and may end. The block is appended to the thread's mailbox when
    /// the delay has passed; a negative delay counts as zero.
    /// Order: blocks whose delays pass at the same time are appended in the order of these calls.
    /// - Returns: the delayed block, to cancel it. It need not be kept.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`. If the thread ends during the
    ///   delay, the block is released then, and its `outcome` becomes `targetGone`.
    @discardableResult @_disfavoredOverload
    public func perform(
        after delay: Duration, _ block: @escaping @Sendable () -> Void
    ) throws(DeliveryError) -> DelayedBlock {
        let performed = PerformedBlock(for: targetThread.mailbox, wait: nil, block)
        try performed.enqueue(after: delay)
        return DelayedBlock(performed)
    }
}

/// A block that is performed after a delay. Threads: any.
public final class DelayedBlock: Sendable {
    let block: PerformedBlock

    init(_ block: PerformedBlock) { self.block = block }

    /// The block's outcome so far: `waiting`, `delivered` (it was begun), `cancelled` or `targetGone`.
    public var outcome: DeliveryOutcome { block.outcome }

    /// Cancels and releases the block.
    /// - Returns: false if the block was begun before, or its thread has ended.
    @discardableResult public func cancel() -> Bool { block.cancel() }
}
