internal import Foundation
internal import ThreadedNotifications

// Measurements on the main thread, which posts and handles.

/// Something to measure that was prepared: `post` calls handlers that count.
typealias Prepared = (post: () -> Void, end: () -> Void)

extension Subject {
    /// Posts, and has handled that when the call returns.
    ///
    /// - Parameter calls: the number of calls of handlers for each post.
    static func here(calls: Int = 1, _ prepare: (Arrivals.Target) throws -> Prepared) rethrows -> Subject {
        let arrivals = Arrivals()
        let (post, end) = try prepare(arrivals.targets[0])
        return Subject(end: end) { operations in
            arrivals.expect(operations * calls)
            let sample = Sample.timing(operations) { for _ in 0..<operations { post() } }
            try arrivals.wait(timeout: .zero)
            try arrivals.check(operations * calls)
            return sample
        }
    }

    /// Posts, 1000 at a time, what a pass of the run loop delivers.
    static func later(
        _ conditions: BenchmarkConditions, _ prepare: (Arrivals.Target) throws -> Prepared
    ) rethrows -> Subject {
        let (arrivals, timeout) = (Arrivals(), conditions.timeout)
        let (post, end) = try prepare(arrivals.targets[0])
        return Subject(end: end) { operations in
            try Sample.timing(operations) {
                for begin in stride(from: 0, to: operations, by: 1000) {
                    let batch = min(1000, operations - begin)
                    arrivals.expect(batch)
                    for _ in 0..<batch { post() }
                    let deadline = SuspendingClock.Instant.after(timeout)
                    while arrivals.targets[0].missing > 0, SuspendingClock.now < deadline { RunLoop.runCurrent(for: 0) }
                    try arrivals.wait(timeout: .zero)
                    try arrivals.check(batch)
                }
            }
        }
    }
}
