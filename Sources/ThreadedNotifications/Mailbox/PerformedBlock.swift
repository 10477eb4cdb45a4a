/// A block for a thread that another thread waits for, or that can be cancelled. It has one outcome.
final class PerformedBlock: DelayedAction {
    private struct State {
        var outcome = DeliveryOutcome.waiting
        /// Nil when it no longer waits.
        var block: (@Sendable () -> Void)?
        /// The mailbox of its thread, while it waits; nil: it is performed in the background.
        var mailbox: ThreadMailbox?
    }

    private let state: Locked<State>
    private let wait: DeliveryWait?
    let post = DeliveryEvent.nextPost()

    init(for mailbox: ThreadMailbox?, wait: DeliveryWait?, _ block: @escaping @Sendable () -> Void) {
        self.wait = wait
        state = Locked(State(block: block, mailbox: mailbox))
    }

    var outcome: DeliveryOutcome { state.withLock { $0.outcome } }

    /// Appends the block to its thread's mailbox, if it still waits.
    func enqueue() {
        let (outcome, mailbox) = state.withLock { ($0.outcome, $0.mailbox) }
        guard outcome == .waiting else { return }
        guard let mailbox else { return TargetThread.performInBackground { self.perform() } }
        DeliveryEvent.trace(.append, post: post, target: mailbox.identity)
        if mailbox.enqueue(.performed(self)) != .accepted { targetIsGone(mailbox.noteLoss()) }
    }

    func delayHasPassed() { enqueue() }

    /// Performs the block on the calling thread, if it still waits.
    func perform() {
        guard let block = resolve(.delivered) else { return }
        ThreadContext.current.perform(block, post: post, wait: wait)
    }

    /// - Returns: whether this call or an earlier one cancelled the block.
    @discardableResult
    func cancel() -> Bool {
        guard resolve(.cancelled) != nil else { return outcome == .cancelled }
        DeliveryEvent.trace(.cancel, post: post)
        wait?.resolve(0, .cancelled)
        return true
    }

    /// - Returns: whether it still waited.
    @discardableResult
    func targetIsGone(_ reason: DeliveryEvent.Reason?) -> Bool {
        guard resolve(.targetGone) != nil else { return false }
        DeliveryEvent.trace(.targetGone, post: post, reason: reason)
        wait?.resolve(0, .targetGone)
        return true
    }

    /// - Returns: the block; nil if it no longer waits.
    private func resolve(_ outcome: DeliveryOutcome) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard let block = state.block else { return nil }
            state = State(outcome: outcome)
            return block
        }
    }
}
