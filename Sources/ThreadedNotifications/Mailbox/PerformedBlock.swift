/// A block on its way to a thread, that somebody waits for or may cancel. It is performed, cancelled or refused, once.
final class PerformedBlock: Sendable {
    private enum State {
        /// With the mailbox that it will be handed to; nil: it is performed in the background.
        case waiting(@Sendable () -> Void, for: ThreadMailbox?)
        case performed
        case cancelled
        case targetGone
    }

    private let state: Locked<State>
    private let wait: DeliveryWait?
    let post = DeliveryEvent.nextPost()

    init(for mailbox: ThreadMailbox?, wait: DeliveryWait?, _ block: @escaping @Sendable () -> Void) {
        self.wait = wait
        state = Locked(.waiting(block, for: mailbox))
    }

    /// Adds the block to the end of its thread's mailbox, if that has not become needless.
    func handOver() {
        guard case .waiting(_, let mailbox) = state.withLock({ $0 }) else { return }
        guard let mailbox else { return TargetThread.performInBackground { self.perform() } }
        DeliveryEvent.trace(.append, post: post, target: mailbox.identity)
        if mailbox.append(MailboxItem(.performed(self))) != .accepted { targetIsGone() }
    }

    /// Performs the block on the calling thread, if that has not become needless.
    func perform() {
        guard let block = leaveWaiting(for: .performed) else { return }
        ThreadContext.current.perform(block, post: post, wait: wait)
    }

    /// - Returns: whether it will not be performed because of this call, or an earlier one.
    @discardableResult
    func cancel() -> Bool {
        if leaveWaiting(for: .cancelled) != nil {
            DeliveryEvent.trace(.cancel, post: post)
            wait?.resolve(0, .cancelled)
            return true
        }
        return state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    func targetIsGone() {
        guard leaveWaiting(for: .targetGone) != nil else { return }
        DeliveryEvent.trace(.targetGone, post: post)
        wait?.resolve(0, .targetGone)
    }

    var outcome: DeliveryOutcome {
        state.withLock {
            switch $0 {
            case .waiting: .waiting
            case .performed: .delivered
            case .cancelled: .cancelled
            case .targetGone: .targetGone
            }
        }
    }

    private func leaveWaiting(for next: State) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard case .waiting(let block, _) = state else { return nil }
            state = next
            return block
        }
    }
}
