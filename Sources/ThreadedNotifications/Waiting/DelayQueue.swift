internal import Dispatch
internal import Synchronization

/// Enqueues blocks for their threads, and ends waits of tasks, when their delays have passed.
///
/// Threads: every method may be called on any thread. One dispatch queue calls the actions, so that blocks with the
/// same deadline keep their order.
//
// Safety: `timer` is used on `queue` only, and `delays` is behind its lock.
final class DelayQueue: @unchecked Sendable {
    typealias ID = Delays<any DelayedAction>.ID

    static let shared = DelayQueue()

    private let delays = Locked(Delays<any DelayedAction>(), isTakenToFork: true)
    private let queue = DispatchQueue(label: "ThreadedNotifications.delays")
    private let timer: any DispatchSourceTimer
    /// A copy of a process has no threads of Dispatch, and Dispatch makes no new ones there. A thread of its own
    /// performs the actions. This is the id of the process that has the thread.
    private let processOfThread = Atomic<Int32>(0)
    private let isChanged = MonotonicSemaphore()

    private init() {
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { [unowned self] in performDue() }
        timer.activate()
    }

    func insert(_ action: any DelayedAction, at deadline: SuspendingClock.Instant) -> ID {
        let (id, isNext) = delays.withLock { $0.insert(action, at: deadline) }
        if isNext || ForkedCopy.isCopy { deadlineIsNearer() }
        return id
    }

    private func deadlineIsNearer() {
        guard ForkedCopy.isCopy else { return queue.async { self.performDue() } }
        isChanged.signal()
        let process = SystemThread.processID
        guard processOfThread.exchange(process, ordering: .relaxed) != process else { return }
        let thread = SystemThread.startWithoutSignals { [self] in
            while true {
                if let next = performActions() { _ = isChanged.wait(until: next) } else { isChanged.wait() }
            }
        }
        if case .failure = thread { processOfThread.store(0, ordering: .relaxed) }
    }

    /// Removes an action that is no longer needed.
    func remove(_ id: ID) {
        // The action is released without the lock, because that calls foreign code.
        let removed = delays.withLock { $0.remove(id) }
        withExtendedLifetime(removed) {}
    }

    /// Performs the actions that are due, and sets the timer for the next deadline. Called on `queue`.
    private func performDue() {
        if let next = performActions() {
            timer.schedule(deadline: .now() + .nanoseconds(next.nanosecondsFromNow), leeway: .nanoseconds(0))
        }
    }

    /// Performs the actions that are due.
    /// - Returns: the next deadline.
    private func performActions() -> SuspendingClock.Instant? {
        let (due, next) = delays.withLock { ($0.take(at: .now), $0.nextDeadline) }
        for action in due { action.delayHasPassed() }
        return next
    }
}
