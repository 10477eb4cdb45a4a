/// Empties the mailbox of an observer with an async handler: in a task, one delivery after the other. The mailbox
/// belongs to no thread.
///
/// A task runs only while something waits, so that nothing retains an idle observer.
/// Threads: every method may be called on any thread.
final class TaskDrain: Sendable {
    private let state = Locked(TaskDrainState())
    /// Not retained, because the mailbox retains this object. The caller of `mailboxWasSignalled` retains it.
    private let mailbox = Locked<WeakReference<ThreadMailbox>?>(nil)
    private let executor: (any TaskExecutor)?

    init(executor: (any TaskExecutor)?) {
        self.executor = executor
    }

    /// The thread on which the task runs, if it prefers one.
    var thread: RunLoopThread? { executor as? RunLoopThread }

    func attach(to mailbox: ThreadMailbox) {
        self.mailbox.withLock { $0 = WeakReference(mailbox) }
    }

    /// An entry was appended to the empty mailbox.
    func mailboxWasSignalled() {
        guard state.withLock({ $0.signal() }), let mailbox = mailbox.withLock({ $0?.object }) else { return }
        // Detached, because a handler inherits nothing of the task that posts.
        Task.detached(executorPreference: executor) { await self.run(mailbox) }
    }

    /// True in the handler that the task calls.
    var isInCurrentTask: Bool {
        guard let current = Self.currentTask else { return false }
        return state.withLock { $0.task } == current
    }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    private func run(_ mailbox: ThreadMailbox) async {
        let task = Self.currentTask
        state.withLock { $0.begin(task) }
        var taken = TakenDeliveries<Delivery, RoomWaiter>()
        repeat {
            Self.take(from: mailbox, &taken)
            while !taken.isEmpty(0) {
                let entry = taken.takeFirst(of: 0, in: 1)
                if let delivery = Self.delivery(of: entry, mailbox) { await AsyncCall.run(delivery) }
                // The chunks retain the observer.
                while var chunk = taken.takeExhausted(in: 1) { chunk.removeAll() }
            }
        } while state.withLock { $0.finish() }
    }

    private static func take(
        from mailbox: ThreadMailbox, _ taken: inout TakenDeliveries<Delivery, RoomWaiter>
    ) {
        mailbox.state.lock()
        defer { mailbox.state.unlock() }
        taken.take(0) { mailbox.state.valueWhileLocked.pending.takeAll(of: 0, into: &$0) }
    }

    /// - Returns: nil if the overflow policy dropped it.
    private static func delivery(of entry: MailboxState.Pending.Entry, _ mailbox: ThreadMailbox) -> Delivery? {
        guard entry.holder != 0 else { return entry.item }
        let (item, waiter) = mailbox.state.withLock { $0.pending.takeHeld(by: entry.holder, number: entry.number) }
        waiter?.wake()
        return item
    }
}
