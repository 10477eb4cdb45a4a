internal import Foundation
internal import ThreadedNotifications

/// Threads that post, and wait between rounds.
final class PosterThreads: Sendable {
    private final class Poster: Sendable {
        /// The number of its next posts; nil ends the thread.
        let share = Locked<Int?>(nil)
        let start = MonotonicSemaphore()
        let hasReturned = MonotonicSemaphore()

        func begin(_ next: Int?) {
            share.withLock { $0 = next }
            start.signal()
        }
    }

    private let posters: [Poster]

    /// - Parameter post: posts a number of notifications. Called on each of the threads.
    init(_ count: Int, post: @escaping @Sendable (Int) -> Void) {
        posters = (0..<count).map { _ in Poster() }
        for poster in posters {
            Thread.detachNewThread {
                var isOver = false
                while !isOver {
                    poster.start.wait()
                    let share = poster.share.withLock { $0 }
                    if let share { post(share) }
                    isOver = share == nil
                    poster.hasReturned.signal()
                }
            }
        }
    }

    /// Starts to post `operations` in total, divided among the threads, and returns at once.
    func post(_ operations: Int) {
        for (index, poster) in posters.enumerated() {
            poster.begin(operations / posters.count + (index < operations % posters.count ? 1 : 0))
        }
    }

    /// Blocks until the threads have posted.
    func wait(timeout: Duration) throws(BenchmarkError) {
        let deadline = SuspendingClock.Instant.after(timeout)
        for poster in posters {
            guard poster.hasReturned.wait(until: deadline) else {
                throw .timedOut(waitingFor: "the posters to return", after: timeout)
            }
        }
    }

    /// Ends the threads, and waits until they have.
    func end() throws(BenchmarkError) {
        for poster in posters { poster.begin(nil) }
        try wait(timeout: .seconds(10))
    }
}
