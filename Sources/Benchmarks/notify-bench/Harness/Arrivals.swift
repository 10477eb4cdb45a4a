internal import CControl
internal import ThreadedNotifications

/// Counts the notifications that target threads handle, and signals when all were handled. The measuring thread may be
/// the target too.
///
/// Each target thread has a counter without a lock or an atomic operation, because the counting is measured too.
final class Arrivals: Sendable {
    /// The counter of one target thread.
    ///
    /// Safety: the measuring thread sets the value behind `left` before the first post, and reads it and the time after
    /// the last handler; in between only the target thread uses them. The delivery of notifications orders the two.
    final class Target: @unchecked Sendable {
        /// A pointer, because access to a class's variable is checked for exclusivity at run time, which would be
        /// measured too.
        private let left = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        private let isDone: MonotonicSemaphore
        /// The time, by `CControlNow`, at which the expected number was reached.
        private(set) var lastArrival: Int64 = 0

        fileprivate init(_ isDone: MonotonicSemaphore) {
            self.isDone = isDone
            left.initialize(to: 0)
        }

        deinit {
            left.deallocate()
        }

        /// The number that is still expected.
        fileprivate(set) var missing: Int {
            get { left.pointee }
            set { left.pointee = newValue }
        }

        /// Counts a handled notification. Called on the target thread.
        func arrive() {
            left.pointee -= 1
            if left.pointee == 0 {
                lastArrival = CControlNow()
                isDone.signal()
            }
        }
    }

    let targets: [Target]
    private let isDone = MonotonicSemaphore()

    init(targets: Int = 1) {
        self.targets = (0..<targets).map { [isDone] _ in Target(isDone) }
    }

    /// The handlers of a channel, one for each target.
    var handlers: [Channel.Handler] { targets.map { target in { target.arrive() } } }

    /// Sets the number that each target expects from now on.
    func expect(_ count: Int) {
        for target in targets { target.missing = count }
    }

    /// Blocks until each target has handled the expected number.
    func wait(timeout: Duration) throws(BenchmarkError) {
        let deadline = SuspendingClock.Instant.after(timeout)
        for _ in targets {
            guard isDone.wait(until: deadline) else {
                throw .timedOut(waitingFor: "what was posted to be handled", after: timeout)
            }
        }
    }

    /// Throws if a target has handled more than expected. Called when no thread posts any longer.
    func check(_ expected: Int) throws(BenchmarkError) {
        for target in targets where target.missing != 0 {
            throw .miscounted(handled: expected - target.missing, posted: expected)
        }
    }
}
