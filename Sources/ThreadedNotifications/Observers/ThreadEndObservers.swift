internal import Foundation

/// The end of one thread, its observers, and the tasks that wait for it. The thread's mailbox has them.
///
/// Threads: every method may be called on any thread.
final class ThreadEndObservers: Sendable {
    private struct State {
        /// Nil while the thread has not ended.
        var end: ThreadEnd?
        /// In the order in which they were added.
        var handles: [ValueObservers.Handle] = []
        var waits: [TaskWait] = []
    }

    private let state: Locked<State>
    private let observers: ValueObservers

    init() {
        let state = Locked(State())
        self.state = state
        observers = ValueObservers { id in
            let removed = state.withLock { state in
                defer { state.handles.removeAll { $0.id == id } }
                return state.handles
            }
            withExtendedLifetime(removed) {}
        }
    }

    /// Adds an observer, which is told at once if the thread has ended.
    func add(
        options: ObserverOptions, at location: SourceLocation, using handler: ValueHandler<ThreadEnd>
    ) -> ObserverToken {
        let (token, handle) = observers.add(
            named: Notification.Name(ThreadEnd.notificationName), options: options, at: location, using: handler)
        let end = state.withLock { state in
            if state.end == nil { state.handles.append(handle) }
            return state.end
        }
        if let end { deliver(end, to: [handle]) }
        return token
    }

    /// - Returns: false if the thread has ended, so that there is nothing to wait for.
    func add(_ wait: TaskWait) -> Bool {
        state.withLock { state in
            if state.end == nil { state.waits.append(wait) }
            return state.end == nil
        }
    }

    func remove(_ wait: TaskWait) {
        state.withLock { $0.waits.removeAll { $0 === wait } }
    }

    /// Tells the observers, those that are added later too. Only the first call has an effect.
    func threadEnded(_ end: ThreadEnd) {
        let told = state.withLock { state in
            defer { state = State(end: state.end ?? end) }
            return state
        }
        if !told.handles.isEmpty { deliver(end, to: told.handles) }
        for wait in told.waits { wait.end() }
    }

    private func deliver(_ end: ThreadEnd, to handles: [ValueObservers.Handle]) {
        observers.deliver(
            PayloadValue(end, named: Notification.Name(ThreadEnd.notificationName)), to: ValueObservers.Group(handles))
    }
}
