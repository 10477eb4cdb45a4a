internal import Dispatch

/// Enqueues blocks for their threads when their delays have passed.
///
/// Threads: every method may be called on any thread. One dispatch queue enqueues the blocks, so that blocks with the
/// same deadline keep their order.
//
// Safety: `timer` is used on `queue` only, and `delays` is behind its lock.
final class DelayQueue: @unchecked Sendable {
    typealias ID = Delays<PerformedBlock>.ID

    static let shared = DelayQueue()

    private let delays = Locked(Delays<PerformedBlock>())
    private let queue = DispatchQueue(label: "ThreadedNotifications.delays")
    private let timer: any DispatchSourceTimer

    private init() {
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { [unowned self] in enqueueDue() }
        timer.activate()
    }

    func insert(_ block: PerformedBlock, at deadline: ContinuousClock.Instant) -> ID {
        let (id, isNext) = delays.withLock { $0.insert(block, at: deadline) }
        if isNext { queue.async { self.enqueueDue() } }
        return id
    }

    /// Removes a block that is no longer needed.
    func remove(_ id: ID) {
        // The block is released without the lock, because that calls foreign code.
        let removed = delays.withLock { $0.remove(id) }
        withExtendedLifetime(removed) {}
    }

    /// Enqueues the blocks that are due, and sets the timer for the next deadline. Called on `queue`.
    private func enqueueDue() {
        let (due, next) = delays.withLock { ($0.take(at: .now), $0.nextDeadline) }
        for block in due { block.enqueue() }
        if let next {
            timer.schedule(deadline: .now() + .nanoseconds(next.nanosecondsFromNow), leeway: .nanoseconds(0))
        }
    }
}
