/// The calls that wait for something of an observer. There are rarely any, so observers have no field for them.
enum ObserverWaiters {
    enum Waiter {
        /// A thread that waits for the observer's handlers to return.
        case thread(MonotonicSemaphore)
        /// A task that does.
        case task(TaskWait)
        /// A call that waits for a delivery to the observer. Not retained.
        case delivery(WeakReference<DeliveryWait>)
    }

    private struct State {
        var waiters: [ObserverID: [UInt64: Waiter]] = [:]
        var lastNumber: UInt64 = 0
    }

    private static let state = Locked(State(), isTakenToFork: true)

    /// Makes what all threads share, before the process forks.
    static func makeShared() { _ = state }

    /// - Returns: the waiter's number, to remove it.
    static func add(_ waiter: Waiter, for id: ObserverID) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.waiters[id, default: [:]][state.lastNumber] = waiter
            return state.lastNumber
        }
    }

    static func remove(_ number: UInt64, for id: ObserverID) {
        let removed = state.withLock { state in
            let removed = state.waiters[id]?.removeValue(forKey: number)
            if state.waiters[id]?.isEmpty == true { state.waiters[id] = nil }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    private static func all(of id: ObserverID) -> [Waiter] {
        state.withLock { $0.waiters[id].map { Array($0.values) } ?? [] }
    }

    /// A handler of a cancelled observer has returned. The threads and tasks that wait check its state again.
    static func handlerEnded(of id: ObserverID) {
        // Threads are woken with the lock held, which they take before they release their semaphore.
        let tasks = state.withLock { state in
            var tasks: [TaskWait] = []
            for waiter in state.waiters[id]?.values.map(\.self) ?? [] {
                if case .thread(let semaphore) = waiter { semaphore.signal() }
                if case .task(let task) = waiter { tasks.append(task) }
            }
            return tasks
        }
        // Resuming a task calls its executor, which is foreign code.
        for task in tasks { task.end(.happened) }
    }

    /// The observer was removed: deliveries to it that have not begun are not waited for any longer.
    static func observerWasCancelled(_ id: ObserverID) {
        for case .delivery(let wait) in all(of: id) { wait.object?.observerWasCancelled(id) }
    }

    /// All waits for deliveries, in a copy of the process.
    static var deliveryWaits: [DeliveryWait] {
        state.withLock { $0.waiters.values.flatMap(\.values) }.compactMap {
            if case .delivery(let wait) = $0 { wait.object } else { nil }
        }
    }
}
