internal import ThreadedNotifications

/// Counts what threads handle, and tells when they have handled all that was expected.
///
/// A counter for each target thread, which counts down without a lock or an atomic operation, since it is measured too.
final class Arrivals: Sendable {
    /// What one target thread handles.
    //
    // Safety: what `left` points to is set before anything is posted and read after the last was handled, by the thread
    // that measures; in between only the target thread touches it. What hands notifications over orders the two.
    final class Target: @unchecked Sendable {
        /// A pointer, because a class's variable is checked at run time for exclusive access, which would be measured
        /// too.
        private let left = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        private let isDone: MonotonicSemaphore

        fileprivate init(_ isDone: MonotonicSemaphore) {
            self.isDone = isDone
            left.initialize(to: 0)
        }

        deinit {
            left.deallocate()
        }

        fileprivate var missing: Int { left.pointee }

        fileprivate func expect(_ count: Int) {
            left.pointee = count
        }

        /// One more was handled. Called on the target thread.
        func arrive() {
            left.pointee -= 1
            if left.pointee == 0 { isDone.signal() }
        }
    }

    let targets: [Target]
    private let isDone = MonotonicSemaphore()

    init(targets: Int = 1) {
        self.targets = (0..<targets).map { [isDone] _ in Target(isDone) }
    }

    /// From now on so many are expected by each target.
    func expect(_ count: Int) {
        for target in targets { target.expect(count) }
    }

    /// Blocks until each target has handled what was expected.
    func wait(limit: Duration) throws(BenchmarkError) {
        let deadline = ContinuousClock.Instant.after(limit)
        for _ in targets {
            guard isDone.wait(until: deadline) else {
                throw .timedOut(waitingFor: "what was posted to be handled", after: limit)
            }
        }
    }

    /// Throws if a target has handled more than was expected. Called when nobody posts any more.
    func check(_ expected: Int) throws(BenchmarkError) {
        for target in targets where target.missing != 0 {
            throw .miscounted(handled: expected - target.missing, posted: expected)
        }
    }
}
