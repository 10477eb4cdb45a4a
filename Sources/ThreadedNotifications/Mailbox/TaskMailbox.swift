/// The queue of an observer with an async handler: a task delivers what waits, one delivery after the other.
///
/// A task runs only while something waits, so that nothing retains an idle observer.
/// Threads: every method may be called on any thread.
final class TaskMailbox: Sendable {
    struct State {
        var pending = PendingDeliveries()
        /// True from the append that starts a task until that finds nothing more.
        fileprivate var isDraining = false
        /// The task that drains, as `currentTask`.
        fileprivate var task: Int?
        fileprivate var isCalling = false
    }

    let state = Locked(State())
    private let executor: (any TaskExecutor)?

    init(executor: (any TaskExecutor)?) {
        self.executor = executor
    }

    /// - Returns: the delivery, in a copy of the process, where no task runs.
    func enqueue(_ delivery: consuming Delivery) -> Delivery? {
        if ForkedCopy.isCopy { return delivery }
        state.lock()
        _ = state.valueWhileLocked.pending.append(delivery)
        let mustStart = !state.valueWhileLocked.isDraining
        state.valueWhileLocked.isDraining = true
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
        return state.withLock { $0.task } == current
    }

    /// True from the beginning of a call of the handler to its end. The task that drains sets it.
    var isCalling: Bool {
        get { state.withLock { $0.isCalling } }
        set { state.withLock { $0.isCalling = newValue } }
    }

    /// The thread that must run before a delivery is made: the one that the tasks prefer. In the handler itself it is
    /// the calling thread, because nothing is delivered until the handler returns. Nil: no particular thread.
    /// - Throws: `DeliveryError` with the code `threadNotStarted`.
    var threadToWaitFor: ThreadIdentity? {
        get throws(DeliveryError) {
            if isInCurrentTask { return .current }
            guard let thread = executor as? RunLoopThread else { return nil }
            guard let identity = thread.identity else { throw .threadNotStarted(thread: thread.name) }
            return identity
        }
    }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    private func run() async {
        let task = Self.currentTask
        state.withLock { $0.task = task }
        var taken = TakenDeliveries()
        while true {
            let (isOver, delivered) = take(&taken)
            // Releasing them calls foreign code.
            withExtendedLifetime(delivered) {}
            if isOver { return }
            while let delivery = taken.takeFirst() {
                if let observer = delivery.observer?.takeUnretainedValue() {
                    await observer.callEnqueued(delivery, in: self)
                }
            }
            withExtendedLifetime(taken.takeOwners()) {}
        }
    }

    private func take(_ taken: inout TakenDeliveries) -> (isOver: Bool, delivered: [Observer]) {
        state.lock()
        defer { state.unlock() }
        if state.valueWhileLocked.pending.isEmpty {
            (state.valueWhileLocked.isDraining, state.valueWhileLocked.task) = (false, nil)
            return (true, [])
        }
        return (false, state.valueWhileLocked.pending.refill(&taken))
    }
}
