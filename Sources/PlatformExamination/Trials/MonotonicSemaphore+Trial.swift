internal import ThreadedNotifications

extension MonotonicSemaphore {
    /// Blocks the calling thread until the semaphore is signalled.
    ///
    /// - Parameter event: the event that is waited for, in the error.
    func wait(for event: String, timeout: Duration = Trial.timeout) throws(TimedOut) {
        guard wait(until: .after(timeout)) else { throw TimedOut(description: "timed out waiting for \(event)") }
    }

    struct TimedOut: Error, CustomStringConvertible {
        var description: String
    }
}
