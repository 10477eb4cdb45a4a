/// The waits of this process's threads, and the tasks that wait for handlers, behind one lock.
///
/// Threads: any. Semaphores are signalled, and tasks resumed, without the lock.
enum Waits {
    struct State {
        var graph = WaitGraph()
        /// The tasks that wait for the handlers of an observer to return. There are rarely any.
        var tasks: [ObserverID: [TaskWait]] = [:]
    }

    static let state = Locked(State())

    static func withGraph<Result: Sendable>(_ body: (inout WaitGraph) -> Result) -> Result {
        state.withLock { body(&$0.graph) }
    }

    /// Begins a wait of the calling thread, which must end it.
    /// - Parameters:
    ///   - targets: at least one.
    ///   - notification: the name of the notification that is waited for; nil: a block, or none.
    ///   - semaphore: signalled when no target is left, and when a handler that is waited for returns.
    /// - Throws: `DeliveryError` with the code `waitWouldDeadlock`; then no wait was begun.
    static func begin(
        for targets: [WaitGraph.Target], of notification: String? = nil, at location: SourceLocation,
        waking semaphore: MonotonicSemaphore
    ) throws(DeliveryError) -> WaitGraph.WaitID {
        let wait = WaitGraph.Wait(
            thread: .current, handlersUnderWay: ThreadContext.current.observersUnderWay, targets: targets.reversed(),
            notification: notification, location: location, semaphore: semaphore,
            waitsForOthers: targets.contains { $0.kind != .ownDelivery })
        switch withGraph({ $0.begin(wait) }) {
        case .success(let id):
            if wait.waitsForOthers {
                DeliveryEvent.trace(.wait, target: wait.onlyThread, location: location, message: wait.waitsFor)
            }
            return id
        case .failure(let error):
            DeliveryEvent.trace(.refuseWait, location: location, message: error.cause)
            throw error
        }
    }

    /// - Returns: the wait, with the outcomes of its targets; nil if it has ended before.
    @discardableResult
    static func end(_ id: WaitGraph.WaitID, timedOut: Bool) -> WaitGraph.Wait? {
        let wait = withGraph { $0.end(id) }
        if wait?.waitsForOthers == true { DeliveryEvent.trace(.waitEnd, reason: timedOut ? .timedOut : nil) }
        return wait
    }

    /// Ends all waits of the calling thread when it ends.
    static func endAll() {
        let number = ThreadIdentity.current.number
        withGraph { $0.endAll(ofThread: number) }
    }

    // MARK: Observers

    /// The observer was removed: deliveries to it that have not begun are not waited for any longer.
    static func observerWasCancelled(_ id: ObserverID) {
        for semaphore in withGraph({ $0.observerWasCancelled(id) }) { semaphore.signal() }
    }

    /// A handler of a cancelled observer has returned. The threads and tasks that wait check its state again.
    static func handlerEnded(of id: ObserverID) {
        // The tasks are copied, because the thread sanitizer does not see that Swift shares an array until it changes.
        let (semaphores, tasks) = state.withLock { state in
            (state.graph.waitingForHandlers(of: id), (state.tasks[id] ?? []).map(\.self))
        }
        for semaphore in semaphores { semaphore.signal() }
        for task in tasks { task.end() }
    }

    static func add(_ task: TaskWait, forHandlersOf id: ObserverID) {
        state.withLock { $0.tasks[id, default: []].append(task) }
    }

    static func remove(_ task: TaskWait, forHandlersOf id: ObserverID) {
        state.withLock { state in
            state.tasks[id]?.removeAll { $0 === task }
            if state.tasks[id]?.isEmpty == true { state.tasks[id] = nil }
        }
    }
}
