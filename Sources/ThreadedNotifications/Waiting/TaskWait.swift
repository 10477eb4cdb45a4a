/// One wait of a task, which an event, its deadline or the task's cancellation ends: whichever is first. It blocks no
/// thread.
///
/// Threads: every method may be called on any thread, without a lock, because a continuation calls the task's executor.
final class TaskWait: DelayedAction {
    enum Outcome {
        case happened
        case timedOut
        case cancelled
    }

    private let state = Locked(TaskWaitState<Outcome, CheckedContinuation<Outcome, Never>>())

    /// Ends the wait, also if it has not begun. Only the first call has an effect.
    func end(_ outcome: Outcome) {
        state.withLock { $0.end(outcome) }?.resume(returning: outcome)
    }

    func delayHasPassed() { end(.timedOut) }

    /// Suspends the task until the wait has ended. Called once.
    func outcome(until deadline: SuspendingClock.Instant) async -> Outcome {
        let delay = DelayQueue.shared.insert(self, at: deadline)
        defer { DelayQueue.shared.remove(delay) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ended = state.withLock { $0.suspend(continuation) }
                if let ended { continuation.resume(returning: ended) }
            }
        } onCancel: {
            end(.cancelled)
        }
    }

    /// Suspends the task until the event happens.
    /// - Throws: `error` after the deadline; `CancellationError` if the task is cancelled.
    func wait(until deadline: SuspendingClock.Instant, orThrow error: DeliveryError) async throws {
        switch await outcome(until: deadline) {
        case .happened: break
        case .timedOut: throw error
        case .cancelled: throw CancellationError()
        }
    }
}
