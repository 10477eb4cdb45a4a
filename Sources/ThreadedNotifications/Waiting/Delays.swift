/// Elements that wait for their deadlines: a pure value, sorted by deadline. Elements of the same deadline keep the
/// order in which they were inserted.
///
/// Cost: a binary search, and moving the elements with later deadlines.
struct Delays<Element> {
    struct ID: Comparable, Sendable {
        fileprivate var deadline: SuspendingClock.Instant
        fileprivate var number: UInt64

        static func < (one: ID, other: ID) -> Bool {
            (one.deadline, one.number) < (other.deadline, other.number)
        }
    }

    /// From `first` on; those before were taken.
    private var waiting: [(id: ID, element: Element?)] = []
    private var first = 0
    private var lastNumber: UInt64 = 0

    /// The next deadline; nil if nothing waits.
    var nextDeadline: SuspendingClock.Instant? { first < waiting.count ? waiting[first].id.deadline : nil }

    /// - Returns: the element's id, and whether `nextDeadline` has changed.
    mutating func insert(_ element: Element, at deadline: SuspendingClock.Instant) -> (id: ID, isNext: Bool) {
        lastNumber += 1
        let id = ID(deadline: deadline, number: lastNumber)
        let index = index(of: id)
        waiting.insert((id, element), at: index)
        return (id, index == first)
    }

    /// - Returns: the element, or nil if it was removed or taken before.
    mutating func remove(_ id: ID) -> Element? {
        let index = index(of: id)
        guard index < waiting.count, waiting[index].id == id else { return nil }
        return waiting.remove(at: index).element
    }

    /// Takes all elements that are due.
    mutating func take(at now: SuspendingClock.Instant) -> [Element] {
        var due: [Element] = []
        while first < waiting.count, waiting[first].id.deadline <= now {
            if let element = waiting[first].element.take() { due.append(element) }
            first += 1
        }
        if first > waiting.count / 2 {
            waiting.removeFirst(first)
            first = 0
        }
        return due
    }

    /// The index of the first element that is not before `id`.
    private func index(of id: ID) -> Int {
        var (low, high) = (first, waiting.count)
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
