internal import Foundation
internal import ThreadedNotifications

/// Threads that post, and wait between rounds.
final class PosterThreads: Sendable {
    private let posters: [Poster]

    /// - Parameters:
    ///   - count: the number of threads.
    ///   - core: the core of the threads; nil: any core.
    ///   - post: posts a number of notifications. Called on each of the threads.
    init(_ count: Int, core: Int?, post: @escaping @Sendable (Int) -> Void) throws {
        posters = (0..<count).map { _ in Poster() }
        for poster in posters { Thread.detachNewThread { poster.main(core, post) } }
        for poster in posters {
            poster.hasReturned.wait()
            if let error = poster.problem.withLock({ $0 }) {
                end()
                throw error
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

    /// Ends the threads after they have posted all that was requested.
    func end() {
        for poster in posters { poster.begin(nil) }
    }
}

/// One posting thread.
private final class Poster: Sendable {
    /// The number of its next posts; nil ends the thread. It may be set while the thread has not yet woken for the last
    /// number.
    private let share = Locked<Int?>(nil)
    private let start = MonotonicSemaphore()
    let problem = Locked<BenchmarkError?>(nil)
    let hasReturned = MonotonicSemaphore()

    func begin(_ next: Int?) {
        share.withLock { $0 = next }
        start.signal()
    }

    func main(_ core: Int?, _ post: (Int) -> Void) {
        if let core {
            do throws(BenchmarkError) {
                try ProcessorCores.pinCurrentThread(to: [core])
            } catch {
                problem.withLock { $0 = error }
            }
        }
        hasReturned.signal()
        while true {
            start.wait()
            guard let share = share.withLock({ $0 }) else { return }
            post(share)
            hasReturned.signal()
        }
    }
}
