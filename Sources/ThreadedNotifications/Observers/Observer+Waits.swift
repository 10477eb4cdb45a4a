extension Observer {
    /// Waits until no call of this cancelled observer's handler runs on another thread.
    func waitUntilHandlersReturned(timeout: Duration, at location: SourceLocation) throws(DeliveryError) {
        let own = ThreadContext.current.observersUnderWay.count { $0 == id } + ownAsyncCalls
        guard state.running > own, mailbox?.isOfParent != true else { return }
        let ended = MonotonicSemaphore()
        let waiter = ObserverWaiters.add(.thread(ended), for: id)
        defer { ObserverWaiters.remove(waiter, for: id) }
        _ = change { $0.awaited }
        let thread = mailbox.map { " on \($0.numberAndName)" } ?? ""
        let wait = try ThreadWaits.begin(
            for: [.observer(id)], on: mailbox?.identity,
            waitsFor: "the handler of observer \(id)\(thread) to return", at: location)
        defer { ThreadWaits.end(wait) }
        let deadline = SuspendingClock.Instant.after(timeout)
        while state.running > own {
            guard ended.wait(until: deadline) else {
                ThreadWaits.end(wait, timedOut: true)
                throw .handlerStillRunning(observer: id, after: timeout)
            }
        }
    }

    /// Suspends the task until no call of this cancelled observer's handler runs, except that of the task itself.
    func waitUntilHandlersReturned(timeout: Duration) async throws {
        let own = ownAsyncCalls
        let deadline = SuspendingClock.Instant.after(timeout)
        _ = change { $0.awaited }
        while state.running > own {
            let ended = TaskWait()
            let waiter = ObserverWaiters.add(.task(ended), for: id)
            defer { ObserverWaiters.remove(waiter, for: id) }
            // From now on the next handler that returns ends the wait.
            guard state.running > own else { return }
            try await ended.wait(until: deadline, orThrow: .handlerStillRunning(observer: id, after: timeout))
        }
    }

    /// 1 in its own async handler.
    private var ownAsyncCalls: Int {
        guard let tasks else { return 0 }
        return tasks.isInCurrentTask && tasks.isCalling ? 1 : 0
    }
}
