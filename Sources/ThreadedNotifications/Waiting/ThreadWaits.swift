/// The waits of this process's threads, behind one lock.
enum ThreadWaits {
    private static let graph = Locked(WaitGraph(), isTakenToFork: true)

    /// Makes what all threads share, before the process forks.
    static func makeShared() { _ = graph }

    /// Begins a wait of the calling thread, which must end it.
    /// - Parameter target: the thread that is waited for, if it is one; for events.
    /// - Throws: `DeliveryError` with the code `waitWouldDeadlock`; then no wait was begun.
    static func begin(
        for targets: [WaitGraph.Target], on target: ThreadIdentity?, waitsFor: String, at location: SourceLocation
    ) throws(DeliveryError) -> WaitGraph.WaitID {
        let thread = ThreadIdentity.current
        let wait = WaitGraph.Wait(
            thread: thread, handlersUnderWay: ThreadContext.current.observersUnderWay, targets: targets,
            description: DeliveryError.Wait(
                thread: thread, waitsFor: waitsFor, file: location.file, line: location.line), target: target)
        switch graph.withLock({ $0.begin(wait) }) {
        case .success(let id):
            if !targets.isEmpty { DeliveryEvent.trace(.wait, target: target, location: location, message: waitsFor) }
            return id
        case .failure(let error):
            DeliveryEvent.trace(.refuseWait, location: location, message: error.cause)
            throw error
        }
    }

    /// A target did what was waited for. Called before the waiting thread is woken, so that it does not count as
    /// waiting any longer.
    static func complete(_ target: WaitGraph.Target, of id: WaitGraph.WaitID) {
        graph.withLock { $0.complete(target, of: id) }
    }

    static func end(_ id: WaitGraph.WaitID, timedOut: Bool = false) {
        let hasEnded = graph.withLock { $0.end(id) }
        if hasEnded { DeliveryEvent.trace(.waitEnd, reason: timedOut ? .timedOut : nil) }
    }

    /// In a copy of the process, the other threads do not wait any more.
    static func otherThreadsHaveEnded() {
        let number = ThreadContext.existing?.identity?.number ?? 0
        graph.withLock { $0.endAll(exceptOfThread: number) }
    }

    /// Ends all waits of the calling thread when it ends.
    static func endAll() {
        let number = ThreadIdentity.current.number
        graph.withLock { $0.endAll(ofThread: number) }
    }

    /// True if no thread waits.
    static var isEmpty: Bool { graph.withLock { $0.isEmpty } }
}
