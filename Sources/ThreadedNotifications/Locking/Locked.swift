package import Foundation

/// A value that one thread at a time may touch: what every shell keeps its state in.
///
/// Decide in `withLock`, act after it: no handler, port or other foreign code is called inside.
///
/// It is Foundation's `NSLock` and not Synchronization's `Mutex`, because the latter hands the lock from waiter to waiter
/// through the kernel on Linux: with more contending threads than cores each operation costs a change of threads.
package final class Locked<Value> {
    @usableFromInline package let lock = NSLock()
    @usableFromInline package var value: Value

    @inlinable
    package init(_ value: sending Value) {
        self.value = value
    }

    /// Calls `body` with the value while no other thread does. `body` must not call `withLock` of the same value.
    @inlinable
    package func withLock<Result, Failure>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

// Safety: the value is only touched with the lock held, and `sending` lets nothing that is still shared come in or go out.
extension Locked: @unchecked Sendable {}
