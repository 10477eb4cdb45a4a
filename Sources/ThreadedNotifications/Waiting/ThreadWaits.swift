/// The waits of this process's threads, and the one lock they are behind.
enum ThreadWaits {
    private static let graph = Locked(WaitGraph())

    /// Begins a wait of the calling thread, which must end it.
    /// - Throws: `DeliveryError.waitWouldDeadlock`; then nothing was begun.
    static func begin(
        for targets: [WaitGraph.Target], waitsFor: String, at place: SourcePlace
    ) throws(DeliveryError) -> WaitGraph.WaitID {
        let thread = ThreadIdentity.current
        let wait = WaitGraph.Wait(
            thread: thread, handlersUnderWay: ThreadContext.current.observersUnderWay, targets: targets,
            description: DeliveryError.Wait(
                thread: thread, waitsFor: waitsFor, file: place.file, line: place.line))
        switch graph.withLock({ $0.begin(wait) }) {
        case .success(let id):
            if !targets.isEmpty { DeliveryEvent.trace(.wait, place: place, message: waitsFor) }
            return id
        case .failure(let error):
            DeliveryEvent.trace(.refuseWait, place: place, message: error.cycle)
            throw error
        }
    }

    /// To be told before the waiting thread is: else it would seem to wait still.
    static func complete(_ target: WaitGraph.Target, of id: WaitGraph.WaitID) {
        graph.withLock { $0.complete(target, of: id) }
    }

    static func end(_ id: WaitGraph.WaitID) {
        let hasEnded = graph.withLock { $0.end(id) }
        if hasEnded { DeliveryEvent.trace(.waitEnd) }
    }

    /// The calling thread ends.
    static func endAll() {
        let number = ThreadIdentity.current.number
        graph.withLock { $0.endAll(ofThread: number) }
    }

    /// Whether no thread waits.
    static var isEmpty: Bool { graph.withLock { $0.isEmpty } }
}
