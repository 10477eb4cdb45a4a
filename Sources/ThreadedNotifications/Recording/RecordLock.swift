internal import Glibc
internal import Synchronization

/// A value behind a lock that a signal handler can take too.
///
/// It stores the thread that holds it, so that a handler that interrupted that thread does not wait for it. If the
/// handler interrupted the few instructions between locking the mutex and storing the thread, or between clearing the
/// thread and unlocking the mutex, it waits for `timeoutInHandler` and then continues without the lock.
final class RecordLock<Value>: Sendable {
    /// How long a signal handler waits for the lock at most, in nanoseconds.
    private static var timeoutInHandler: Int64 { 5_000_000_000 }

    private let mutex: Locked<Value>
    /// The `pthread_self()` of the thread that holds the lock, or 0. The thread exists, so no other has the same
    /// identifier.
    private let holder = Atomic<UInt>(0)

    init(_ value: sending Value) {
        mutex = Locked(value)
    }

    /// The value. The caller holds the lock, or is called by `withLockInHandler`.
    var value: Value {
        _read { yield mutex.valueWhileLocked }
        _modify { yield &mutex.valueWhileLocked }
    }

    /// True if the calling thread holds the lock: true in a signal handler that interrupted it while it did.
    var isHeldByThisThread: Bool { holder.load(ordering: .relaxed) == UInt(pthread_self()) }

    func lock() {
        mutex.lock()
        didLock()
    }

    /// - Returns: false if the lock was held for that time.
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
        // Orders the store before accesses to the value, for a handler on this thread.
        atomicMemoryFence(ordering: .acquiringAndReleasing)
    }

    /// Calls `body` in a signal handler while no other thread holds the lock. If the interrupted thread holds it, its
    /// change of the value may be incomplete.
    func withLockInHandler(_ body: () -> Void) {
        let isTaken = !isHeldByThisThread && lock(nanoseconds: Self.timeoutInHandler)
        body()
        if isTaken { unlock() }
    }
}
