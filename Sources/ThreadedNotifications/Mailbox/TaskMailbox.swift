/// The queue of an observer with an async handler: a task delivers what waits, one delivery after the other.
///
/// A task runs only while something waits, so that nothing retains an idle observer.
/// Threads: every method may be called on any thread.
final class TaskMailbox: Sendable {
    struct State {
        var pending = PendingDeliveries()
        var drain = TaskDrainState()
    }

    let state = Locked(State(), isTakenToFork: true)
    private let executor: (any TaskExecutor)?

    init(executor: (any TaskExecutor)?) {
        self.executor = executor
    }

    /// The thread on which the task runs, if it prefers one.
    var thread: RunLoopThread? { executor as? RunLoopThread }

    /// - Returns: the delivery, in a copy of the process, where no task runs.
    func enqueue(_ delivery: consuming Delivery) -> Delivery? {
        if ForkedCopy.isCopy { return delivery }
        state.lock()
        let mustStart = state.valueWhileLocked.pending.append(delivery) && state.valueWhileLocked.drain.signal()
        state.unlock()
        if mustStart {
            DeliveryEvent.trace(.signal)
            // Detached, because a handler inherits nothing of the task that posts.
            Task.detached(executorPreference: executor) { await self.run() }
        }
        return nil
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

    private func run() async {
        let task = Self.currentTask
        state.withLock { $0.drain.begin(task) }
        var taken = TakenDeliveries()
        repeat {
            withExtendedLifetime(take(&taken)) {}
            while let delivery = taken.takeFirst() {
                if let observer = delivery.observer?.takeUnretainedValue() {
                    await observer.callEnqueued(delivery, in: self)
                }
            }
            withExtendedLifetime(taken.takeOwners()) {}
        } while state.withLock { $0.drain.finish() }
    }

    private func take(_ taken: inout TakenDeliveries) -> [Observer] {
        state.lock()
        defer { state.unlock() }
        return state.valueWhileLocked.pending.refill(&taken)
    }
}

extension TaskMailbox {
    /// The thread that must run before a delivery is made: the one that the tasks prefer. In the handler itself it is
    /// the calling thread, because nothing is delivered until the handler returns. Nil: no particular thread.
    /// - Throws: `DeliveryError` with the code `threadNotStarted`.
    var threadToWaitFor: ThreadIdentity? {
        get throws(DeliveryError) {
            if isInCurrentTask { return .current }
            guard let thread else { return nil }
            guard let identity = thread.identity else { throw .threadNotStarted(thread: thread.name) }
            return identity
        }
    }
}
