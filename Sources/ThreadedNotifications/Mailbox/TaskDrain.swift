/// Empties the mailbox of an observer with an async handler: in a task, one delivery after the other. The mailbox
/// belongs to no thread.
///
/// A task runs only while something waits, so that nothing retains an idle observer.
/// Threads: every method may be called on any thread.
final class TaskDrain: Sendable {
    private struct State {
        var drain = TaskDrainState()
        /// Not retained, because the mailbox retains this object. The caller of `mailboxWasSignalled` retains it.
        var mailbox: WeakReference<ThreadMailbox>?
    }

    private let state = Locked(State())
    private let executor: (any TaskExecutor)?

    init(executor: (any TaskExecutor)?) {
        self.executor = executor
    }

    /// The thread on which the task runs, if it prefers one.
    var thread: RunLoopThread? { executor as? RunLoopThread }

    func attach(to mailbox: ThreadMailbox) {
        state.withLock { $0.mailbox = WeakReference(mailbox) }
    }

    /// An entry was appended to the empty mailbox.
    func mailboxWasSignalled() {
        guard let mailbox = state.withLock({ $0.drain.signal() ? $0.mailbox?.object : nil }) else { return }
        // Detached, because a handler inherits nothing of the task that posts.
        Task.detached(executorPreference: executor) { await self.run(mailbox) }
    }

    /// True in the task that drains: in the handler, and while the task releases what it delivered.
    var isInCurrentTask: Bool {
        guard let current = Self.currentTask else { return false }
        return state.withLock { $0.drain.task } == current
    }

    /// True from the beginning of a call of the handler to its end. The task that drains sets it.
    var isCalling: Bool {
        get { state.withLock { $0.drain.isCalling } }
        set { state.withLock { $0.drain.isCalling = newValue } }
    }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    private func run(_ mailbox: ThreadMailbox) async {
        let task = Self.currentTask
        state.withLock { $0.drain.begin(task) }
        var taken = TakenDeliveries<Delivery, RoomWaiter>()
        repeat {
            Self.take(from: mailbox, &taken)
            while !taken.isEmpty(0) {
                let entry = taken.takeFirst(of: 0, in: 1)
                if let delivery = Self.delivery(of: entry, mailbox) { await AsyncCall.run(delivery, in: self) }
                // The chunks retain the observer.
                while var chunk = taken.takeExhausted(in: 1) { chunk.removeAll() }
            }
        } while state.withLock { $0.drain.finish() }
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
