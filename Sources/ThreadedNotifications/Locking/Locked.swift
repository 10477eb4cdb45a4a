package import CLinux

/// A value that one thread at a time may touch: what every shell keeps its state in.
///
/// Decide in `withLock`, act after it: no handler, port or other foreign code is called inside.
///
/// It is a mutex of the system and not Synchronization's `Mutex`, because the latter hands the lock from waiter to waiter
/// through the kernel on Linux: with more contending threads than cores each operation costs a change of threads.
/// Mutex and value are in memory of their own, so that neither moves, and Swift need not check who else has the value.
package final class Locked<Value> {
    @usableFromInline
    package struct Storage {
        @usableFromInline package var mutex = pthread_mutex_t()
        @usableFromInline package var value: Value

        @usableFromInline
        package init(value: Value) {
            self.value = value
        }
    }

    @usableFromInline package let storage: UnsafeMutablePointer<Storage>

    package init(_ value: sending Value) {
        storage = .allocate(capacity: 1)
        storage.initialize(to: Storage(value: value))
        CLinuxInitializeMutex(Self.mutex(of: storage))
    }

    deinit {
        pthread_mutex_destroy(Self.mutex(of: storage))
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    /// The mutex is the storage's first field.
    @inlinable
    static func mutex(of storage: UnsafeMutablePointer<Storage>) -> UnsafeMutablePointer<pthread_mutex_t> {
        UnsafeMutableRawPointer(storage).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    /// Calls `body` with the value while no other thread does. `body` must not call `withLock` of the same value.
    @inlinable @inline(__always)
    package func withLock<Result, Failure>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock()
        defer { unlock() }
        return try body(&storage.pointee.value)
    }

    // MARK: For a lock that is held longer than a call

    /// The value, with the lock held.
    @inlinable
    package var valueWhileLocked: Value {
        @inline(__always) _read { yield storage.pointee.value }
        @inline(__always) _modify { yield &storage.pointee.value }
    }

    /// - Parameter nanoseconds: how long to wait at most, on the monotonic clock; zero or less does not wait.
    /// - Returns: false if another thread held the lock all that time.
    package func lock(nanoseconds: Int64) -> Bool {
        CLinuxLockMutex(Self.mutex(of: storage), nanoseconds)
    }

    @inlinable @inline(__always)
    package func lock() {
        pthread_mutex_lock(Self.mutex(of: storage))
    }

    @inlinable @inline(__always)
    package func unlock() {
        pthread_mutex_unlock(Self.mutex(of: storage))
    }
}

// Safety: the value is only touched with the lock held, and `sending` lets nothing that is still shared come in or go out.
extension Locked: @unchecked Sendable {}
