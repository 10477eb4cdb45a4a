internal import Synchronization

/// Wakes a thread that sleeps in a `MailboxEvent`, without the run loop's lock.
///
/// `CFRunLoopWakeUp` writes to a descriptor while it holds the lock of the run loop. The woken thread needs the lock
/// first of all, and if it interrupts the waking thread on its processor, both threads take turns for it.
///
/// Threads: `sleep` is for the thread that sleeps; `wake` may be called on any thread, also after the other has ended.
final class SleepEvent: Sendable {
    private let makeReady: @Sendable () -> Void
    /// The number of times that the thread began or ended to sleep: it is odd while the thread sleeps.
    private let changes = Atomic<UInt64>(0)

    /// - Parameter makeReady: ends the wait of `sleep`, also if it has not begun.
    init(makeReady: @escaping @Sendable () -> Void) {
        self.makeReady = makeReady
    }

    func sleep(_ wait: () -> Void) {
        changes.add(1, ordering: .sequentiallyConsistent)
        wait()
        changes.add(1, ordering: .sequentiallyConsistent)
    }

    /// Wakes the thread if it sleeps.
    /// - Returns: false if it did not sleep all the time that this took, and may therefore begin to sleep elsewhere.
    func wake() -> Bool {
        let before = changes.load(ordering: .sequentiallyConsistent)
        guard before % 2 == 1 else { return false }
        makeReady()
        return changes.load(ordering: .sequentiallyConsistent) == before
    }
}
