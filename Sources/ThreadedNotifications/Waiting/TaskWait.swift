/// One wait of a task, which an event, its deadline or the task's cancellation ends: whichever is first. It blocks no
/// thread.
///
/// Threads: every method may be called on any thread, without a lock, because `end()` calls the task's executor.
final class TaskWait: Sendable {
    /// The first end: true if the event has happened, false if the deadline has passed.
    private let (ends, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))

    /// The event has happened, also if the wait has not begun.
    func end() { continuation.yield(true) }

    /// Suspends the task until the event happens. Called once.
    /// - Throws: `error` after the deadline; `CancellationError` if the task is cancelled.
    func wait(until deadline: SuspendingClock.Instant, orThrow error: DeliveryError) async throws {
        let delay = Delay(SuspendingClock.now.duration(to: deadline)) { [continuation] in continuation.yield(false) }
        defer { delay.cancel() }
        switch await ends.first(where: { _ in true }) {
        case true?: break
        case false?: throw error
        case nil: throw CancellationError()
        }
    }
}
