internal import Foundation
internal import ThreadedNotifications

// Measurements on the main thread, which posts and handles.

/// Something to measure that was prepared: `post` calls handlers that count.
typealias Prepared = (post: () -> Void, end: () -> Void)

extension Subject {
    /// Posts, and has handled that when the call returns.
    ///
    /// - Parameters:
    ///   - calls: the number of calls of handlers for each post.
    ///   - prepare: returns what posts.
    static func here(calls: Int = 1, _ prepare: (Arrivals.Target) throws -> Prepared) rethrows -> Subject {
        let arrivals = Arrivals()
        let (post, end) = try prepare(arrivals.targets[0])
        return Subject(end: end) { operations in
            arrivals.expect(operations * calls)
            let sample = Sample.timing(operations) { for _ in 0..<operations { post() } }
            if calls > 0 { try arrivals.wait(timeout: .zero) }
            try arrivals.check(operations * calls)
            return sample
        }
    }

    /// Posts, 1000 at a time, what a pass of the run loop delivers.
    ///
    /// - Parameter isCoalescing: true if 1000 posts become one.
    static func later(
        _ conditions: BenchmarkConditions, isCoalescing: Bool = false,
        _ prepare: (Arrivals.Target) throws -> Prepared
    ) rethrows -> Subject {
        let (arrivals, timeout) = (Arrivals(), conditions.timeout)
        let (post, end) = try prepare(arrivals.targets[0])
        return Subject(end: end) { operations in
            try Sample.timing(operations) {
                for begin in stride(from: 0, to: operations, by: 1000) {
                    let batch = min(1000, operations - begin)
                    arrivals.expect(isCoalescing ? 1 : batch)
                    for _ in 0..<batch { post() }
                    let deadline = SuspendingClock.Instant.after(timeout)
                    while arrivals.targets[0].missing > 0, SuspendingClock.now < deadline { RunLoop.runCurrent(for: 0) }
                    try arrivals.wait(timeout: .zero)
                    try arrivals.check(isCoalescing ? 1 : batch)
                }
            }
        }
    }
}
