internal import Dispatch

/// Enqueues blocks for their threads, and ends waits of tasks, when their delays have passed.
///
/// Threads: every method may be called on any thread. One dispatch queue calls the actions, so that blocks with the
/// same deadline keep their order.
//
// Safety: `timer` is used on `queue` only, and `delays` is behind its lock.
final class DelayQueue: @unchecked Sendable {
    typealias ID = Delays<any DelayedAction>.ID

    static let shared = DelayQueue()

    private let delays = Locked(Delays<any DelayedAction>())
    private let queue = DispatchQueue(label: "ThreadedNotifications.delays")
    private let timer: any DispatchSourceTimer

    private init() {
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { [unowned self] in performDue() }
        timer.activate()
    }

    func insert(_ action: any DelayedAction, at deadline: SuspendingClock.Instant) -> ID {
        let (id, isNext) = delays.withLock { $0.insert(action, at: deadline) }
        if isNext { queue.async { self.performDue() } }
        return id
    }

    /// Removes an action that is no longer needed.
    func remove(_ id: ID) {
        // The action is released without the lock, because that calls foreign code.
        let removed = delays.withLock { $0.remove(id) }
        withExtendedLifetime(removed) {}
    }

    /// Performs the actions that are due, and sets the timer for the next deadline. Called on `queue`.
    private func performDue() {
        let (due, next) = delays.withLock { ($0.take(at: .now), $0.nextDeadline) }
        for action in due { action.delayHasPassed() }
        if let next {
            timer.schedule(deadline: .now() + .nanoseconds(next.nanosecondsFromNow), leeway: .nanoseconds(0))
        }
    }
}
