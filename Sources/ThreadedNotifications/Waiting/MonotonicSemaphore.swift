internal import CLinux

/// A semaphore that measures timeouts on the monotonic clock.
///
/// `DispatchSemaphore` measures them on the wall clock on Linux: it waits with `sem_timedwait`. If that clock is set
/// back by an hour, a timeout of a second takes an hour longer.
///
/// Threads: every method may be called on any thread.
//
// Safety: the system's semaphore allows concurrent calls. Its address does not change. It is destroyed when no call is
// under way, because a call retains this object.
package final class MonotonicSemaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    package init(value: UInt32 = 0) {
        semaphore = .allocate(capacity: 1)
        let result = sem_init(semaphore, 0, value)
        precondition(result == 0, "MonotonicSemaphore: \(value) exceeds the largest value of a semaphore.")
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    /// Lets one call of `wait` return: one under way, or the next one.
    package func signal() { sem_post(semaphore) }

    /// Blocks the calling thread until the semaphore is signalled.
    package func wait() {
        // A signal handler interrupts `sem_wait`.
        while sem_wait(semaphore) != 0 {}
    }

    /// Blocks the calling thread until the semaphore is signalled or the deadline has passed.
    /// - Returns: false if the deadline passed without a signal.
    package func wait(until deadline: SuspendingClock.Instant) -> Bool {
        CLinuxWaitForSemaphore(semaphore, deadline.nanosecondsFromNow)
    }
}

extension SuspendingClock.Instant {
    /// The end of a timeout that begins now.
    package static func after(_ timeout: Duration) -> SuspendingClock.Instant {
        .now.advanced(by: .nanoseconds(timeout.timeoutNanoseconds))
    }

    /// The time until this instant; zero if it has passed.
    var nanosecondsFromNow: Int64 { SuspendingClock.now.duration(to: self).timeoutNanoseconds }
}

extension Duration {
    /// Negative counts as zero. Timeouts of more than 30 years are shortened, so that no deadline overflows.
    var timeoutNanoseconds: Int64 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(1_000_000_000)).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
