/// Those who wait for an observer's handlers to return. There are hardly ever any, so observers do not have them each.
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

    /// Those who wait look again.
    static func handlerEnded(of id: ObserverID) {
        waiting.withLock { waiting in
            for ended in waiting[id] ?? [] { ended.signal() }
        }
    }
}
