// Public, because `withLock` is inlined in the other modules of the package.
public import CLinux

/// A value that one thread at a time may access.
///
/// Decide in `withLock` and act after it: no handler, port or other foreign code is called with the lock held.
///
/// The lock is a pthread mutex. Synchronization's `Mutex` hands the lock from waiter to waiter through the kernel on
/// Linux: with more contending threads than cores, each operation costs a switch of threads. The mutex and the value
/// are in allocated memory, so that they do not move, and Swift does not check exclusive access at run time.
@usableFromInline
package final class Locked<Value> {
    @usableFromInline
    package struct Storage {
        @usableFromInline package var mutex = pthread_mutex_t()
        @usableFromInline package var value: Value
    }

    @usableFromInline package let storage: UnsafeMutablePointer<Storage>

    package init(_ value: sending Value) {
        storage = .allocate(capacity: 1)
        storage.initialize(to: Storage(value: value))
        CLinuxInitializeMutex(mutex)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    /// The mutex is the storage's first field.
    @inlinable
    var mutex: UnsafeMutablePointer<pthread_mutex_t> {
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

    // MARK: A lock that is held longer than a call

    /// The value. The caller holds the lock.
    @inlinable
    package var valueWhileLocked: Value {
        @inline(__always) _read { yield storage.pointee.value }
        @inline(__always) _modify { yield &storage.pointee.value }
    }

    @inlinable @inline(__always)
    package func lock() { pthread_mutex_lock(mutex) }

    @inlinable @inline(__always)
    package func unlock() { pthread_mutex_unlock(mutex) }
}

// Safety: the value is accessed only with the lock held. `sending` ensures that nothing in it is shared with code
// outside.
extension Locked: @unchecked Sendable {}

/// A reference that does not retain its object.
//
// Safety: the runtime reads and writes weak references atomically.
package struct WeakReference<Object: AnyObject>: @unchecked Sendable {
    package weak var object: Object?

    package init(_ object: Object) {
        self.object = object
    }
}
