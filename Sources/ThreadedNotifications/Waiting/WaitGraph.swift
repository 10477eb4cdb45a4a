/// The waits of the process's threads: a pure value. A wait that would close a cycle would never end, and is not begun
/// (guarantee 13).
///
/// A waiting thread delays every wait for that thread, and for the observers of the handlers that run on it.
struct WaitGraph {
    typealias WaitID = UInt64

    /// Something that a thread waits for.
    struct Target {
        enum Kind {
            /// The thread must deliver to the observer, or perform a block. Without a thread, a task must, which no
            /// waiting thread is known to delay.
            case delivery
            /// The waiting thread itself delivers to the observer, before it waits for the others.
            case ownDelivery
            /// The handlers of the observer must return.
            case handlers
            /// The thread must end.
            case end
        }

        var kind: Kind
        /// 0: a block, or the end of a thread.
        var observer: ObserverID = 0
        var thread: ThreadIdentity?
        /// True if the delivery has begun. From then on it resolves itself, also if it finds the observer removed.
        var hasBegun = false

        /// The thread in words.
        var threadName: String { thread.map { "\($0)" } ?? "a task" }

        /// - Parameter notification: its name; nil: a block.
        fileprivate func words(_ notification: String?) -> String {
            switch kind {
            case .delivery, .ownDelivery:
                "\(threadName) to " + (notification.map { "handle \($0)" } ?? "perform a block")
            case .handlers: "the handler of observer \(observer)\(thread.map { " on \($0)" } ?? "") to return"
            case .end: "\(threadName) to end"
            }
        }
    }

    private var waits: [Wait] = []
    private var lastID: WaitID = 0

    var isEmpty: Bool { waits.isEmpty }

    /// Begins a wait, or returns the cycle that it would close, beginning with it.
    mutating func begin(_ wait: Wait) -> Result<WaitID, DeliveryError> {
        if let cycle = cycle(closedBy: wait) {
            return .failure(.waitWouldDeadlock(cycle.map(\.description)))
        }
        lastID += 1
        waits.append(wait)
        waits[waits.count - 1].id = lastID
        return .success(lastID)
    }

    /// - Returns: the wait; nil if it has ended before.
    @discardableResult
    mutating func end(_ id: WaitID) -> Wait? { index(of: id).map { waits.remove(at: $0) } }

    /// Removes the waits of a thread that ends.
    mutating func endAll(ofThread number: Int) { waits.removeAll { $0.thread.number == number } }

    mutating func deliveryBegins(to observer: ObserverID, of id: WaitID) {
        guard let wait = index(of: id), let target = waits[wait].index(of: observer) else { return }
        waits[wait].targets[target].hasBegun = true
    }

    /// A delivery has an outcome. Only the first call for an observer has an effect. From now on the wait does not
    /// count as a wait for this target.
    /// - Returns: whether it was the last one.
    mutating func resolve(_ observer: ObserverID, _ outcome: DeliveryOutcome, of id: WaitID) -> Bool {
        guard let wait = index(of: id), let target = waits[wait].index(of: observer) else { return false }
        return waits[wait].resolve(target, outcome)
    }

    /// The observer was removed: deliveries to it that have not begun will find that, and are not waited for.
    /// - Returns: the semaphores to signal.
    mutating func observerWasCancelled(_ observer: ObserverID) -> [MonotonicSemaphore] {
        var semaphores: [MonotonicSemaphore] = []
        for index in waits.indices {
            while let target = waits[index].targets.lastIndex(where: {
                $0.kind != .handlers && $0.observer == observer && !$0.hasBegun
            }) {
                if waits[index].resolve(target, .cancelled) { semaphores.append(waits[index].semaphore) }
            }
        }
        return semaphores
    }

    /// A handler of an observer has returned.
    /// - Returns: the semaphores to signal.
    func waitingForHandlers(of observer: ObserverID) -> [MonotonicSemaphore] {
        waits.filter { $0.targets.contains { $0.kind == .handlers && $0.observer == observer } }.map(\.semaphore)
    }

    private func index(of id: WaitID) -> Int? { waits.firstIndex { $0.id == id } }

    /// Searches for a path from a wait, along the waits that it waits for, back to itself.
    private func cycle(closedBy wait: Wait) -> [Wait]? {
        var visited: Set<WaitID> = []
        func path(from one: Wait) -> [Wait]? {
            if one.waits(for: wait) { return [one] }
            for next in waits where !visited.contains(next.id) && one.waits(for: next) {
                visited.insert(next.id)
                if let rest = path(from: next) { return [one] + rest }
            }
            return nil
        }
        return path(from: wait)
    }
}

extension WaitGraph {
    /// A wait, and the outcomes of its targets.
    struct Wait {
        fileprivate(set) var id: WaitID = 0
        let thread: ThreadIdentity
        /// The observers of the handlers that run on the thread.
        let handlersUnderWay: [ObserverID]
        /// The targets that are left. The last one is usually done first.
        fileprivate(set) var targets: [Target]
        /// The name of the notification that is waited for; nil: a block, or none.
        let notification: String?
        let location: SourceLocation
        /// Signalled when no target is left, and when a handler that is waited for returns.
        let semaphore: MonotonicSemaphore
        /// False if the waiting thread itself does everything.
        var waitsForOthers = true
        /// The outcomes so far.
        private(set) var counters = DeliveryCounters()
        private(set) var dropped: [ObserverID] = []
        private(set) var endedThread: String?

        /// The targets, besides the waiting thread itself.
        private var others: [Target] { targets.reversed().filter { $0.kind != .ownDelivery } }

        /// The others in words.
        var waitsFor: String {
            var words: [String] = []
            for one in others.map({ $0.words(notification) }) where !words.contains(one) { words.append(one) }
            return words.joined(separator: " and ")
        }

        /// The thread that it waits for, if it is one.
        var onlyThread: ThreadIdentity? { Set(others.map(\.thread)).count == 1 ? others[0].thread : nil }

        fileprivate var description: DeliveryError.Wait {
            DeliveryError.Wait(thread: thread, waitsFor: waitsFor, file: location.file, line: location.line)
        }

        fileprivate func index(of observer: ObserverID) -> Int? { targets.lastIndex { $0.observer == observer } }

        /// - Returns: whether no target is left.
        fileprivate mutating func resolve(_ index: Int, _ outcome: DeliveryOutcome) -> Bool {
            let target = targets.remove(at: index)
            counters.count(outcome)
            if outcome == .dropped || outcome == .refused { dropped.append(target.observer) }
            if outcome == .targetGone { endedThread = target.threadName }
            return targets.isEmpty
        }

        /// True if this wait cannot end before another one.
        fileprivate func waits(for other: Wait) -> Bool {
            targets.contains { target in
                switch target.kind {
                case .delivery, .end: target.thread?.number == other.thread.number
                case .ownDelivery: false
                // A thread does not wait for a handler that runs on itself.
                case .handlers:
                    other.thread.number != thread.number && other.handlersUnderWay.contains(target.observer)
                }
            }
        }
    }
}
