/// The end of a thread, and the observers and tasks that wait for it: a pure value.
///
///     running ──add: waits──► running ──end: take all──► ended ──add: told at once──► ended
struct ThreadEndState<Observer, Waiter: AnyObject> {
    /// Nil while the thread has not ended.
    var end: ThreadEnd?
    /// In the order in which they were added.
    private var observers: [(id: ObserverID, observer: Observer)] = []
    private var waiters: [Waiter] = []

    /// - Returns: the end, if the observer must be told of it now.
    mutating func add(_ observer: Observer, id: ObserverID) -> ThreadEnd? {
        if end == nil { observers.append((id, observer)) }
        return end
    }

    mutating func remove(_ id: ObserverID) {
        observers.removeAll { $0.id == id }
    }

    /// - Returns: false if the thread has ended, so that there is nothing to wait for.
    mutating func add(_ waiter: Waiter) -> Bool {
        if end == nil { waiters.append(waiter) }
        return end == nil
    }

    mutating func remove(_ waiter: Waiter) {
        waiters.removeAll { $0 === waiter }
    }

    /// The thread has ended.
    /// - Returns: the observers to tell and the waiters to wake. A second call returns none.
    mutating func end(_ end: ThreadEnd) -> (observers: [Observer], waiters: [Waiter]) {
        if self.end == nil { self.end = end }
        defer { (observers, waiters) = ([], []) }
        return (observers.map(\.observer), waiters)
    }
}
