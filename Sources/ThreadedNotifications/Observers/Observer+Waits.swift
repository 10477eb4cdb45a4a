extension Observer {
    /// Waits until no call of this cancelled observer's handler runs on another thread.
    func waitUntilHandlersReturned(timeout: Duration, at location: SourceLocation) throws(DeliveryError) {
        let own = ThreadContext.current.observersUnderWay.count { $0 == id } + ownAsyncCalls
        guard state.running > own, mailbox?.isOfParent != true else { return }
        let handlerReturned = MonotonicSemaphore()
        let target = WaitGraph.Target(kind: .handlers, observer: id, thread: mailbox?.identity)
        let wait = try Waits.begin(for: [target], at: location, waking: handlerReturned)
        // From now on each handler that returns signals.
        _ = change { $0.awaited }
        let deadline = SuspendingClock.Instant.after(timeout)
        var timedOut = false
        while state.running > own, !timedOut { timedOut = !handlerReturned.wait(until: deadline) }
        Waits.end(wait, timedOut: timedOut)
        if timedOut { throw .handlerStillRunning(observer: id, after: timeout) }
    }

    /// Suspends the task until no call of this cancelled observer's handler runs, except that of the task itself.
    func waitUntilHandlersReturned(timeout: Duration) async throws {
        let own = ownAsyncCalls
        let deadline = SuspendingClock.Instant.after(timeout)
        _ = change { $0.awaited }
        while state.running > own {
            let ended = TaskWait()
            Waits.add(ended, forHandlersOf: id)
            defer { Waits.remove(ended, forHandlersOf: id) }
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
