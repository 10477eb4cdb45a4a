/// The threads and tasks that wait for an observer's handlers to return. There are rarely any, so observers have no
/// field for them.
enum HandlerWaiters {
    private struct Waiters {
        var threads: [MonotonicSemaphore] = []
        var tasks: [TaskWait] = []
    }

    private static let waiting = Locked<[ObserverID: Waiters]>([:], isTakenToFork: true)

    /// Makes what all threads share, before the process forks.
    static func makeShared() { _ = waiting }

    static func add(_ thread: MonotonicSemaphore, for id: ObserverID) {
        waiting.withLock { $0[id, default: Waiters()].threads.append(thread) }
    }

    static func add(_ task: TaskWait, for id: ObserverID) {
        waiting.withLock { $0[id, default: Waiters()].tasks.append(task) }
    }

    static func remove(_ thread: MonotonicSemaphore, for id: ObserverID) {
        change(id) { $0.threads.removeAll { $0 === thread } }
    }

    static func remove(_ task: TaskWait, for id: ObserverID) {
        change(id) { $0.tasks.removeAll { $0 === task } }
    }

    private static func change(_ id: ObserverID, _ remove: (inout Waiters) -> Void) {
        waiting.withLock { waiting in
            guard var waiters = waiting.removeValue(forKey: id) else { return }
            remove(&waiters)
            if !waiters.threads.isEmpty || !waiters.tasks.isEmpty { waiting[id] = waiters }
        }
    }

    /// A handler of a cancelled observer has returned. The waiting threads and tasks check the observer's state again.
    static func handlerEnded(of id: ObserverID) {
        // Threads are woken with the lock held, which they take before they release their semaphore.
        let tasks = waiting.withLock { waiting in
            for thread in waiting[id]?.threads ?? [] { thread.signal() }
            // A copy, because the thread sanitizer does not know that the memory of an array is counted.
            return waiting[id]?.tasks.map { $0 } ?? []
        }
        // Resuming a task calls its executor, which is foreign code.
        for task in tasks { task.end(.happened) }
    }
}
