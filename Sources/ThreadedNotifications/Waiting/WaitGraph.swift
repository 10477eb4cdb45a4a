/// The waits between threads: a pure value. A wait that would close a cycle would never end, and is not begun
/// (guarantee 13).
///
/// A thread waits for threads that must deliver something, or for handlers of an observer that must return. A waiting
/// thread delays every wait for that thread, and for the observers of the handlers that run on it.
struct WaitGraph {
    typealias WaitID = UInt64

    enum Target: Hashable {
        /// The thread with this number.
        case thread(Int)
        /// The handlers of this observer.
        case observer(ObserverID)
        /// A task, which no waiting thread is known to delay.
        case task
    }

    struct Wait {
        var thread: ThreadIdentity
        /// The observers of the handlers that run on the thread.
        var handlersUnderWay: [ObserverID]
        /// The targets, each once for every delivery that is waited for.
        var targets: [Target]
        /// True if there were targets at the beginning.
        fileprivate(set) var hadTargets = false
        var description: DeliveryError.Wait
        /// The thread that is waited for, if it is one; for events.
        var target: ThreadIdentity?
    }

    private var waits: [WaitID: Wait] = [:]
    private var lastID: WaitID = 0

    var isEmpty: Bool { waits.isEmpty }

    /// Begins a wait, or returns the cycle that it would close, beginning with it.
    mutating func begin(_ wait: Wait) -> Result<WaitID, DeliveryError> {
        if let cycle = cycle(closedBy: wait) {
            return .failure(.waitWouldDeadlock(cycle.map(\.description)))
        }
        lastID += 1
        waits[lastID] = wait
        waits[lastID]?.hadTargets = !wait.targets.isEmpty
        return .success(lastID)
    }

    /// A target of a wait did what was waited for.
    mutating func complete(_ target: Target, of id: WaitID) {
        guard let index = waits[id]?.targets.lastIndex(of: target) else { return }
        waits[id]?.targets.remove(at: index)
    }

    /// - Returns: whether the wait had targets, and had not ended before.
    @discardableResult
    mutating func end(_ id: WaitID) -> Bool {
        waits.removeValue(forKey: id)?.hadTargets == true
    }

    /// Removes the waits of a thread that ends.
    mutating func endAll(ofThread number: Int) {
        waits = waits.filter { $0.value.thread.number != number }
    }

    /// Removes the waits of all other threads, which a copy of the process does not have.
    mutating func endAll(exceptOfThread number: Int) {
        waits = waits.filter { $0.value.thread.number == number }
    }

    /// Searches for a path from a wait, along the waits that it waits for, back to itself.
    private func cycle(closedBy wait: Wait) -> [Wait]? {
        var visited: Set<WaitID> = []
        func path(from one: Wait) -> [Wait]? {
            if one.waits(for: wait) { return [one] }
            for (id, next) in waits where !visited.contains(id) && one.waits(for: next) {
                visited.insert(id)
                if let rest = path(from: next) { return [one] + rest }
            }
            return nil
        }
        return path(from: wait)
    }
}

extension WaitGraph.Wait {
    /// True if this wait cannot end before another one.
    fileprivate func waits(for other: WaitGraph.Wait) -> Bool {
        targets.contains { target in
            switch target {
            case .thread(let number): other.thread.number == number
            // A thread does not wait for a handler that runs on itself.
            case .observer(let id): other.thread.number != thread.number && other.handlersUnderWay.contains(id)
            case .task: false
            }
        }
    }
}
