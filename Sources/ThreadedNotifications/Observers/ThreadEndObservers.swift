internal import Foundation

/// The observers of the end of one thread, and the tasks that wait for it. The thread's mailbox has them.
///
/// Threads: every method may be called on any thread.
final class ThreadEndObservers: Sendable {
    private static let name = Notification.Name(ThreadEnd.notificationName)

    private let state = Locked(ThreadEndState<ValueObservers.Handle, TaskWait>(), isTakenToFork: true)
    private let observers: ValueObservers

    init() {
        observers = ValueObservers { [state] id in state.withLock { $0.remove(id) } }
    }

    func add(
        options: ObserverOptions, at location: SourceLocation, using handler: ValueHandler<ThreadEnd>
    ) -> ObserverToken {
        let (token, handle) = observers.add(
            named: Self.name, options: options, at: location, using: handler)
        if let end = state.withLock({ $0.add(handle, id: handle.id) }) { deliver(end, to: [handle]) }
        return token
    }

    /// - Returns: false if the thread has ended, so that there is nothing to wait for.
    func add(_ wait: TaskWait) -> Bool { state.withLock { $0.add(wait) } }

    func remove(_ wait: TaskWait) {
        state.withLock { $0.remove(wait) }
    }

    /// The thread has ended, because the process is a copy that begins. Observers that the parent added are not told.
    /// The caller holds the locks.
    func threadIsOfParent(_ end: ThreadEnd) {
        state.valueWhileLocked.end = end
    }

    /// Tells the observers, those that are added later too. Only the first call has an effect.
    func threadEnded(_ end: ThreadEnd) {
        let (handles, waits) = state.withLock { $0.end(end) }
        if !handles.isEmpty { deliver(end, to: handles) }
        for wait in waits { wait.end() }
    }

    private func deliver(_ end: ThreadEnd, to handles: [ValueObservers.Handle]) {
        observers.deliver(end, named: Self.name, to: handles)
    }
}
