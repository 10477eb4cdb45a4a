internal import Glibc
internal import Synchronization

/// A lock that a signal handler can take too.
///
/// It knows the thread that holds it: a handler that interrupted that thread goes on, and does not wait for itself. The
/// exceptions are the few instructions between taking the mutex and noting the thread, and between forgetting the thread
/// and giving the mutex back: a handler that interrupts these waits `longestWaitInHandler`, and then goes on.
final class RecordLock: Sendable {
    /// How long a signal handler waits for the lock, in nanoseconds.
    private static let longestWaitInHandler: Int64 = 5_000_000_000

    private let mutex = Locked(())
    /// The `pthread_self()` of the thread that holds the lock, or 0. That thread runs, so no other has its identifier.
    private let holder = Atomic<UInt>(0)

    /// Whether the calling thread holds the lock: true in a signal handler that interrupted it while it did.
    var isHeldByThisThread: Bool { holder.load(ordering: .relaxed) == UInt(pthread_self()) }

    func lock() {
        mutex.lock()
        didLock()
    }

    /// - Returns: false if another thread held the lock all that time.
    func lock(nanoseconds: Int64) -> Bool {
        guard mutex.lock(nanoseconds: nanoseconds) else { return false }
        didLock()
        return true
    }

    func unlock() {
        holder.store(0, ordering: .releasing)
        mutex.unlock()
    }

    private func didLock() {
        holder.store(UInt(pthread_self()), ordering: .relaxed)
        // Orders the store before what the lock guards, for a handler on this thread.
        atomicMemoryFence(ordering: .acquiringAndReleasing)
    }

    /// Calls `body` in a signal handler, while no other thread holds the lock. If the interrupted thread holds it,
    /// `body` finds that thread's change half made.
    func withLockInHandler(_ body: () -> Void) {
        let isTaken = !isHeldByThisThread && lock(nanoseconds: Self.longestWaitInHandler)
        body()
        if isTaken { unlock() }
    }
}
