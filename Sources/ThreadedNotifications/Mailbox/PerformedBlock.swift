internal import Dispatch

/// A block for a thread that another thread waits for, or that can be cancelled. It has one outcome.
final class PerformedBlock: Sendable {
    private struct State {
        var outcome = DeliveryOutcome.waiting
        /// Nil when it no longer waits.
        var block: (@Sendable () -> Void)?
        /// The mailbox of its thread, while it waits; nil: it is performed in the background.
        var mailbox: Mailbox?
        /// Its delay, if it has one.
        var delay: Delay?
    }

    private let state: Locked<State>
    private let wait: DeliveryWait?
    let post = DeliveryEvent.nextPost()

    init(for mailbox: Mailbox?, wait: DeliveryWait?, _ block: @escaping @Sendable () -> Void) {
        self.wait = wait
        state = Locked(State(block: block, mailbox: mailbox))
    }

    var outcome: DeliveryOutcome { state.withLock { $0.outcome } }

    /// Appends the block to its thread's mailbox, if it still waits.
    func enqueue() {
        let (outcome, mailbox) = state.withLock { ($0.outcome, $0.mailbox) }
        guard outcome == .waiting else { return }
        guard let mailbox else {
            // Dispatch limits its threads, and waits for one where the system has none left.
            return DispatchQueue.global().async { self.perform() }
        }
        DeliveryEvent.trace(.append, post: post, target: mailbox.identity)
        if mailbox.enqueue(Delivery(.performed(self), post: post)) != nil { _ = targetIsGone(mailbox.noteLoss()) }
    }

    /// Appends the block when a delay has passed. If its thread ends before, the block is `targetGone` then.
    func enqueue(after delay: Duration) throws(DeliveryError) {
        let mailbox = state.withLock { $0.mailbox }
        try mailbox?.add(delayed: self)
        let delay = Delay(delay) { self.enqueue() }
        let waits = state.withLock { state in
            state.delay = delay
            return state.block != nil
        }
        // It was settled before its delay was known.
        if !waits { forget(delay, mailbox) }
    }

    private func forget(_ delay: Delay, _ mailbox: Mailbox?) {
        delay.cancel()
        mailbox?.remove(delayed: self)
    }

    /// Performs the block on the calling thread, if it still waits.
    /// - Returns: whether it did.
    @discardableResult
    func perform() -> Bool {
        guard let block = resolve(.delivered) else { return false }
        ThreadContext.withCurrent { $0.perform(block, post: post, wait: wait) }
        return true
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
    func targetIsGone(_ reason: DeliveryEvent.Reason?) -> Bool {
        guard resolve(.targetGone) != nil else { return false }
        DeliveryEvent.trace(.targetGone, post: post, reason: reason)
        wait?.resolve(0, .targetGone)
        return true
    }

    /// - Returns: the block; nil if it no longer waits.
    private func resolve(_ outcome: DeliveryOutcome) -> (@Sendable () -> Void)? {
        let waiting: State? = state.withLock { state in
            guard state.block != nil else { return nil }
            defer { state = State(outcome: outcome) }
            return state
        }
        if let waiting, let delay = waiting.delay { forget(delay, waiting.mailbox) }
        return waiting?.block
    }
}
