internal import Foundation

extension DeliveryTarget {
    /// Performs a block on this thread.
    ///
    /// On this thread itself, the block is performed before the call returns, if nothing waits for the thread.
    /// Otherwise it is appended to the thread's mailbox, and the call returns at once; the thread's run loop performs
    /// it in a common mode. A block that calls `Thread.exit()` ends the thread.
    /// Order: blocks and notifications for a thread are handled in the order in which they were performed and posted.
    /// Cost: a lock, and about 100 bytes until the block is performed. The thread is signalled when nothing waited for
    /// it.
    /// - Throws: `DeliveryError` with the code `threadNotStarted`, or `threadStopped` if the thread was told to stop or
    ///   has ended; then the block is not performed. An accepted block is performed, unless its thread ends without
    ///   being stopped; then it is traced as `targetGone`.
    @_disfavoredOverload
    public func perform(_ block: @escaping @Sendable () -> Void) throws(DeliveryError) {
        let post = DeliveryEvent.nextPost()
        let isAtOnce = ThreadContext.withCurrent { context in
            guard targetThread.mailbox.map({ context.mailbox === $0 && !context.mustWait }) ?? true else {
                return false
            }
            context.nest("a block") { context.perform(block, post: post, wait: nil) }
            return true
        }
        if !isAtOnce { try targetThread.mailbox?.enqueue(block, post: post) }
    }

    /// Performs a block on this thread when its run loop next delivers, in its common run loop modes.
    ///
    /// As `perform`, and also on this thread itself the block is not performed before the call returns: it comes after
    /// the code that runs, and after everything that waits. Of `.postingThread`, it is performed on the calling thread,
    /// which must run its run loop; see `.current`.
    /// Order: blocks and notifications for a thread are handled in the order in which they were performed and posted.
    /// While the block waits, posts on this thread for ordered observers wait too.
    /// Cost: a lock, and about 100 bytes until the block is performed. The thread is signalled when nothing waited for
    /// it.
    /// - Throws: `DeliveryError` with the code `threadNotStarted`, or `threadStopped` if the thread was told to stop or
    ///   has ended; then the block is not performed. An accepted block is performed, unless its thread ends without
    ///   being stopped; then it is traced as `targetGone`.
    @_disfavoredOverload
    public func performLater(_ block: @escaping @Sendable () -> Void) throws(DeliveryError) {
        let thread = targetThread.mailbox == nil ? CurrentThread.current.targetThread : targetThread
        try thread.mailbox?.enqueue(block, post: DeliveryEvent.nextPost())
    }

    /// Performs a block on this thread and waits until it has returned. It blocks the calling thread.
    ///
    /// On this thread itself, everything that waits is delivered first, then the block is performed, in any run loop
    /// mode. Notifications and blocks from the handlers come after the block, when the run loop next delivers. On
    /// another thread the call does not run its run loop while it waits.
    /// - Parameters:
    ///   - timeout: the longest wait; negative counts as zero. A block that has not begun by then is not performed;
    ///     a block that has begun continues.
    ///   - file: the caller's file, for errors and events.
    ///   - line: the caller's line, for errors and events.
    ///   - block: its value is returned, its error is thrown.
    /// - Throws: the block's error; or `DeliveryError` with the code `notDeliveredInTime`, `waitWouldDeadlock` (the
    ///   block was not performed), `threadNotStarted`, `threadStopped`, or `threadEnded` if the thread ends meanwhile.
    @available(*, noasync, message: "it blocks the thread; perform without waiting")
    @_disfavoredOverload
    public func performAndWait<Value: Sendable>(
        timeout: Duration, file: String = #fileID, line: Int = #line,
        _ block: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        guard let mailbox = targetThread.mailbox, !mailbox.isCurrent else {
            let result = Locked<Result<Value, any Error>?>(nil)
            let performed = PerformedBlock(for: targetThread.mailbox, wait: nil) {
                let value = Result(catching: block)
                result.withLock { $0 = value }
            }
            ThreadContext.withCurrent { context in
                // A thread that was told to stop accepts no block.
                if let mailbox = targetThread.mailbox,
                    mailbox.enqueue(Delivery(.performed(performed), post: performed.post)) == nil
                {
                    Drain.run(context, until: { performed.outcome != .waiting })
                } else {
                    if targetThread.mailbox != nil { Drain.run(context, ignoresBudget: true) }
                    context.nest("a block") { performed.perform() }
                }
            }
            return try Self.value(of: result)
        }
        if let reason = mailbox.reasonNotToWait { throw reason }
        guard let thread = mailbox.identity else { throw DeliveryError.threadNotStarted(thread: mailbox.description) }
        let wait = try DeliveryWait(
            for: [WaitGraph.Target(kind: .delivery, thread: thread)], of: nil, at: SourceLocation(file, line))
        let result = Locked<Result<Value, any Error>?>(nil)
        let performed = PerformedBlock(for: mailbox, wait: wait) {
            let value = Result(catching: block)
            result.withLock { $0 = value }
        }
        performed.enqueue()
        do throws(DeliveryError) {
            try wait.wait(timeout: timeout)
        } catch {
            performed.cancel()
            if result.withLock({ $0 == nil }) { throw error }
        }
        return try Self.value(of: result)
    }

    /// Performs a block on this thread after a delay, in its common run loop modes.
    ///
    /// The calling thread need not run its run loop, and may end. The block is appended to the thread's mailbox when
    /// the delay has passed; a negative delay counts as zero.
    /// Order: blocks whose delays pass at the same time are appended in the order of these calls.
    /// Cost: memory for the block until it is performed or cancelled.
    /// - Returns: the delayed block, to cancel it. It need not be kept.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`. If the thread ends during the
    ///   delay, the block is released then, and its `outcome` becomes `targetGone`.
    @discardableResult
    @_disfavoredOverload
    public func perform(
        after delay: Duration, _ block: @escaping @Sendable () -> Void
    ) throws(DeliveryError) -> DelayedBlock {
        let performed = PerformedBlock(for: targetThread.mailbox, wait: nil, block)
        try performed.enqueue(after: delay)
        return DelayedBlock(performed)
    }

    private static func value<Value: Sendable>(of result: Locked<Result<Value, any Error>?>) throws -> Value {
        guard let result = result.withLock({ $0 }) else {
            preconditionFailure(
                "DeliveryTarget: a block was performed without a result. This is a defect of this package.")
        }
        return try result.get()
    }
}
