package import Foundation
internal import ThreadedNotifications

/// A value that other threads change, and that a test waits for without polling.
package final class Awaited<Value: Sendable>: Sendable {
    private let value: Locked<Value>
    private let changed = NSCondition()

    package init(_ value: Value) {
        self.value = Locked(value)
    }

    /// Reads or changes the value, and wakes the threads that wait for it.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        changed.lock()
        defer {
            changed.broadcast()
            changed.unlock()
        }
        return value.withLock { body(&$0) }
    }

    /// Waits until the condition holds, or the timeout has passed.
    /// - Returns: whether the condition holds.
    package func wait(_ timeout: TimeInterval = TestTimeout.seconds, until condition: (Value) -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: timeout)
        changed.lock()
        defer { changed.unlock() }
        while !condition(value.withLock { $0 }) {
            if !changed.wait(until: deadline) { return condition(value.withLock { $0 }) }
        }
        return true
    }
}
