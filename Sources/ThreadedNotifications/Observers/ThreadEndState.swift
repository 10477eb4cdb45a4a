/// The end of a thread, and its observers: a pure value.
///
///     running ──add: waits──► running ──end: take all──► ended ──add: told at once──► ended
struct ThreadEndState<Observer> {
    /// Nil while the thread has not ended.
    private(set) var end: ThreadEnd?
    /// In the order in which they were added.
    private var observers: [(id: ObserverID, observer: Observer)] = []

    /// - Returns: the end, if the observer must be told of it now.
    mutating func add(_ observer: Observer, id: ObserverID) -> ThreadEnd? {
        if end == nil { observers.append((id, observer)) }
        return end
    }

    mutating func remove(_ id: ObserverID) {
        observers.removeAll { $0.id == id }
    }

    /// The thread has ended.
    /// - Returns: the observers to tell. A second call returns none.
    mutating func end(_ end: ThreadEnd) -> [Observer] {
        if self.end == nil { self.end = end }
        defer { observers = [] }
        return observers.map(\.observer)
    }
}
