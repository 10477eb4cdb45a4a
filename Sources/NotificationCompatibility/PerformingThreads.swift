internal import Foundation
internal import ThreadedNotifications

/// Finds the `TargetThread` of a `Thread`. Foundation on Linux gives no access to the run loop of another thread, so a
/// thread registers itself: when it adds an `NSMachPort` to its run loop, and when it performs a block on itself.
///
///     unknown, blocks wait ──port added──► target known ──► thread ends
final class PerformingThreads: Sendable {
    static let shared = PerformingThreads()

    // Safety: only the identity and `isFinished` are used, which Foundation offers to all threads.
    private struct RetainedThread: @unchecked Sendable {
        let thread: Thread
    }

    private struct Entry {
        /// Retained, because the address of a released thread is used again.
        let thread: RetainedThread
        var target: TargetThread?
        var end: ObserverToken?
        /// The blocks that were performed before the target was known.
        var waiting: [@Sendable () -> Void] = []
    }

    private struct NotReached: Error, CustomStringConvertible {
        let description: String
    }

    private let entries = Locked<[ObjectIdentifier: Entry]>([:])

    // MARK: Performing

    /// - Throws: the errors of `DeliveryTarget.performLater`, or one that says that the thread has finished.
    func performLater(on thread: Thread, _ block: @escaping @Sendable () -> Void) throws {
        try (target(of: thread) ?? keep(block, for: thread))?.performLater(block)
    }

    /// - Throws: the errors of `DeliveryTarget.performAndWait`, or one that says that the thread has finished, or was
    ///   not reached within the timeout.
    func performAndWait(
        on thread: Thread, timeout: Duration, file: String, line: Int, _ block: @escaping @Sendable () -> Void
    ) throws {
        let deadline = SuspendingClock.Instant.after(timeout)
        let reached = MonotonicSemaphore()
        var target = try target(of: thread) ?? keep({ reached.signal() }, for: thread)
        if target == nil, reached.wait(until: deadline) { target = self.target(of: thread) }
        guard let target else {
            throw NotReached(
                description: "\(thread) was not reached within \(timeout). A thread performs blocks while it runs its "
                    + "run loop with an NSMachPort on it")
        }
        try target.performAndWait(
            timeout: SuspendingClock.now.duration(to: deadline), file: file, line: line, block)
    }

    /// The target of a thread that can be reached now.
    private func target(of thread: Thread) -> TargetThread? {
        if thread === Thread.mainThread { return MainThread.main.targetThread }
        if thread === Thread.current { return targetOfCurrentThread }
        return entries.withLock { $0[ObjectIdentifier(thread)]?.target }
    }

    /// Keeps a block until the thread can be reached.
    /// - Returns: the target, if it is known by now. Then the block is not kept.
    private func keep(_ block: @escaping @Sendable () -> Void, for thread: Thread) throws -> TargetThread? {
        if thread.isFinished { throw NotReached(description: "\(thread) has finished") }
        let retained = RetainedThread(thread: thread)
        // The blocks for threads that have finished are released after the lock.
        let (target, finished) = entries.withLock { entries in
            let finished = entries.filter { $0.value.target == nil && $0.value.thread.thread.isFinished }
            for key in finished.keys { entries[key] = nil }
            var entry = entries[ObjectIdentifier(retained.thread)] ?? Entry(thread: retained)
            if entry.target == nil { entry.waiting.append(block) }
            entries[ObjectIdentifier(retained.thread)] = entry
            return (entry.target, finished)
        }
        withExtendedLifetime(finished) {}
        return target
    }

    // MARK: Registering

    /// The target of the calling thread, which other threads can reach from now on until it ends.
    var targetOfCurrentThread: TargetThread {
        let thread = Thread.current
        if thread === Thread.mainThread { return MainThread.main.targetThread }
        let key = ObjectIdentifier(thread)
        if let target = entries.withLock({ $0[key]?.target }) { return target }
        let retained = RetainedThread(thread: thread)
        let target = CurrentThread.current.targetThread
        // Others learn the target when the blocks that wait are in its mailbox, so that theirs come after these.
        while let waiting = takeWaitingBlocks(orSet: target, key, retained) {
            for block in waiting { try? target.performLater(block) }
        }
        let end = target.addEndObserver(on: .postingThread) { _ in
            let removed = self.entries.withLock { $0.removeValue(forKey: key) }
            withExtendedLifetime(removed) {}
        }
        entries.withLock { $0[key]?.end = end }
        return target
    }

    private func takeWaitingBlocks(
        orSet target: TargetThread, _ key: ObjectIdentifier, _ thread: RetainedThread
    ) -> [@Sendable () -> Void]? {
        entries.withLock { entries in
            var entry = entries[key] ?? Entry(thread: thread)
            defer { entries[key] = entry }
            if entry.waiting.isEmpty {
                entry.target = target
                return nil
            }
            defer { entry.waiting = [] }
            return entry.waiting
        }
    }
}
