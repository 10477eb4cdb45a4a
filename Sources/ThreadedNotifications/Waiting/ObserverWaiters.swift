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

    private static let waiters = Locked<[ObserverID: [UInt64: Waiter]]>([:], isTakenToFork: true)
    private static let lastNumber = Locked<UInt64>(0)

    /// Makes what all threads share, before the process forks.
    static func makeShared() { _ = (waiters, lastNumber) }

    /// - Returns: the waiter's number, to remove it.
    static func add(_ waiter: Waiter, for id: ObserverID) -> UInt64 {
        let number = lastNumber.withLock { last in
            last += 1
            return last
        }
        waiters.withLock { $0[id, default: [:]][number] = waiter }
        return number
    }

    static func remove(_ number: UInt64, for id: ObserverID) {
        let removed = waiters.withLock { waiters in
            let removed = waiters[id]?.removeValue(forKey: number)
            if waiters[id]?.isEmpty == true { waiters[id] = nil }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    private static func all(of id: ObserverID) -> [Waiter] {
        waiters.withLock { $0[id].map { Array($0.values) } ?? [] }
    }

    /// A handler of a cancelled observer has returned. The threads and tasks that wait check its state again.
    static func handlerEnded(of id: ObserverID) {
        // Threads are woken with the lock held, which they take before they release their semaphore.
        let tasks = waiters.withLock { waiters in
            var tasks: [TaskWait] = []
            for waiter in waiters[id]?.values.map(\.self) ?? [] {
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
        waiters.withLock { $0.values.flatMap(\.values) }.compactMap {
            if case .delivery(let wait) = $0 { wait.object } else { nil }
        }
    }
}
