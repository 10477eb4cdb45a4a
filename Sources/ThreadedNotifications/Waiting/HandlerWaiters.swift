/// The threads that wait for an observer's handlers to return. There are rarely any, so observers have no field for
/// them.
enum HandlerWaiters {
    private static let waiting = Locked<[ObserverID: [MonotonicSemaphore]]>([:])

    static func add(_ ended: MonotonicSemaphore, for id: ObserverID) {
        waiting.withLock { $0[id, default: []].append(ended) }
    }

    static func remove(_ ended: MonotonicSemaphore, for id: ObserverID) {
        waiting.withLock { waiting in
            waiting[id]?.removeAll { $0 === ended }
            if waiting[id]?.isEmpty == true { waiting[id] = nil }
        }
    }

    /// The waiting threads check the observer's state again.
    static func handlerEnded(of id: ObserverID) {
        waiting.withLock { waiting in
            for ended in waiting[id] ?? [] { ended.signal() }
        }
    }
}
