public import Foundation
public import ThreadedNotifications

// Apple's methods with these names take a selector, which does not exist on Linux. These take a block. Where Apple's
// methods cannot fail, neither do these: they return what happened, and write a line on standard error.

extension NSObject {
    /// Performs a block on a thread, as `perform(_:on:with:waitUntilDone:)` performs a selector.
    ///
    ///     perform(on: networkThread, waitUntilDone: false) { self.send(firstName, lastName) }
    ///
    /// The block is performed in the thread's common run loop modes. The thread is the main thread, the calling
    /// thread, one that has added an `NSMachPort` to its run loop, or one that has called this method for itself. Its
    /// run loop then has something to wait for, so that `RunLoop.run()` does not return. Blocks for any other thread
    /// wait until it is one of these, and are discarded after it has finished.
    ///
    /// Order: as `DeliveryTarget.performLater(_:)`; with `wait`, as `performAndWait`. On the calling thread a block is
    /// performed later, or at once with `wait`.
    /// - Parameters:
    ///   - thread: the thread.
    ///   - wait: whether to block the calling thread until the block has returned.
    ///   - timeout: the longest wait; Apple's method has none. A block that has not begun by then is not performed.
    ///   - file: the caller's file, for errors.
    ///   - line: the caller's line, for errors.
    ///   - block: performed on the thread.
    /// - Returns: false if the block was refused, because the thread has ended, or was not performed in time. A wait
    ///   for a thread that waits for the calling one fails at once.
    /// - Source: "Performing a block of code on a given thread".
    @available(*, noasync, message: "it may block the thread; use an actor, or perform of DeliveryTarget")
    @discardableResult
    public func perform(
        on thread: Thread, waitUntilDone wait: Bool, timeout: Duration = .seconds(60), file: String = #fileID,
        line: Int = #line, _ block: @escaping @Sendable () -> Void
    ) -> Bool {
        reportingErrors {
            if wait {
                try PerformingThreads.shared.performAndWait(
                    on: thread, timeout: timeout, file: file, line: line, block)
            } else {
                try PerformingThreads.shared.performLater(on: thread, block)
            }
        } != nil
    }

    /// Performs a block on the main thread, as `performSelector(onMainThread:with:waitUntilDone:)` performs a selector.
    ///
    ///     performOnMainThread(waitUntilDone: false) { window.title = title }
    ///
    /// Otherwise as `perform(on:waitUntilDone:timeout:_:)`. The block is isolated to the main actor.
    @available(*, noasync, message: "it may block the thread; use await MainActor.run")
    @discardableResult
    public func performOnMainThread(
        waitUntilDone wait: Bool, timeout: Duration = .seconds(60), file: String = #fileID, line: Int = #line,
        _ block: @escaping @MainActor () -> Void
    ) -> Bool {
        reportingErrors {
            if wait {
                try MainThread.main.performAndWait(timeout: timeout, file: file, line: line, block)
            } else {
                try MainThread.main.performLater(block)
            }
        } != nil
    }

    /// Performs a block on the calling thread after a delay, as `perform(_:with:afterDelay:)` performs a selector.
    ///
    ///     let saving = perform(afterDelay: 2) { document.save() }
    ///     …
    ///     saving?.cancel()   // instead of cancelPreviousPerformRequests(withTarget:)
    ///
    /// The calling thread must run its run loop, which has something to wait for from now on. The block is performed in
    /// the common modes; Apple's method uses the default mode. In code of the main actor the block says
    /// `MainActor.assumeIsolated`, as that of a `Timer` does.
    ///
    /// Order and cost: as `DeliveryTarget.perform(after:_:)`.
    /// - Parameters:
    ///   - delay: in seconds. A negative one, and one that is not a number, count as zero.
    ///   - block: performed on the calling thread.
    /// - Returns: the block, to cancel it; it need not be kept. Nil on a thread that is ending.
    /// - Source: "Performing a block of code on a given thread", `performBlock:afterDelay:`.
    @available(*, noasync, message: "a task has no thread of its own; use Task.sleep")
    @discardableResult
    public func perform(
        afterDelay delay: TimeInterval, _ block: @escaping @Sendable () -> Void
    ) -> DelayedBlock? {
        // 30 years and infinity are the same, and a `Duration` cannot hold the latter.
        let seconds = delay > 0 ? min(delay, 1e9) : 0
        return reportingErrors {
            try PerformingThreads.shared.targetOfCurrentThread.perform(after: .seconds(seconds), block)
        }
    }

    /// - Returns: nil after an error.
    private func reportingErrors<Value>(_ body: () throws -> Value) -> Value? {
        do { return try body() } catch { StandardError.warn("a block was not performed: \(error)") }
        return nil
    }
}
