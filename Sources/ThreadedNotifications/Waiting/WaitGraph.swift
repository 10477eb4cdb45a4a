/// Who waits for whom: a pure value. A wait that would close a cycle would never end, and is not begun (guarantee 13).
///
/// A thread waits for threads that must deliver something first, or for an observer whose handlers must return first. A
/// waiting thread holds up everybody who waits for it, and everybody who waits for an observer whose handler it is in.
struct WaitGraph {
    typealias WaitID = UInt64

    enum Target: Hashable {
        /// The thread with this number.
        case thread(Int)
        /// The handlers of this observer.
        case observer(ObserverID)
    }

    struct Wait {
        var thread: ThreadIdentity
        /// The observers whose handlers the thread is in.
        var handlersUnderWay: [ObserverID]
        /// Each is there as often as it is waited for.
        var targets: [Target]
        /// Whether there were any.
        fileprivate(set) var isForSomebody = false
        var description: DeliveryError.Wait
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
        waits[lastID]?.isForSomebody = !wait.targets.isEmpty
        return .success(lastID)
    }

    /// One of the targets of a wait did what was waited for.
    mutating func complete(_ target: Target, of id: WaitID) {
        guard let index = waits[id]?.targets.lastIndex(of: target) else { return }
        waits[id]?.targets.remove(at: index)
    }

    /// - Returns: whether it was a wait for somebody, and had not ended before.
    @discardableResult
    mutating func end(_ id: WaitID) -> Bool {
        waits.removeValue(forKey: id)?.isForSomebody == true
    }

    /// A thread ends, and waits no longer.
    mutating func endAll(ofThread number: Int) {
        waits = waits.filter { $0.value.thread.number != number }
    }

    /// Looks for a way from a wait over those that it waits for back to itself.
    private func cycle(closedBy wait: Wait) -> [Wait]? {
        var visited: Set<WaitID> = []
        func way(from one: Wait) -> [Wait]? {
            if one.waits(for: wait) { return [one] }
            for (id, next) in waits where !visited.contains(id) && one.waits(for: next) {
                visited.insert(id)
                if let rest = way(from: next) { return [one] + rest }
            }
            return nil
        }
        return way(from: wait)
    }
}

extension WaitGraph.Wait {
    /// Whether this cannot end before another does.
    fileprivate func waits(for other: WaitGraph.Wait) -> Bool {
        targets.contains { target in
            switch target {
            case .thread(let number): other.thread.number == number
            // Its own handler a thread does not wait for, but it does for the same on other threads.
            case .observer(let id): other.thread.number != thread.number && other.handlersUnderWay.contains(id)
            }
        }
    }
}
