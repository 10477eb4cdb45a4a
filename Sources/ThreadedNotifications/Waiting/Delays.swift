/// Elements that wait for their deadlines: a pure value.
///
/// Elements of the same deadline keep the order in which they were inserted. Inserting, removing and taking one takes
/// logarithmic time on average.
struct Delays<Element> {
    typealias ID = UInt64

    private struct Key: Comparable {
        var deadline: SuspendingClock.Instant
        var id: ID

        static func < (one: Key, other: Key) -> Bool {
            (one.deadline, one.id) < (other.deadline, other.id)
        }
    }

    private var elements: [ID: Element] = [:]
    /// A binary heap: no key is less than its parent, at half its index. It also contains keys of elements
    /// that were removed.
    private var keys: [Key] = []
    private var lastID: ID = 0

    /// The number of elements and keys for which memory is allocated.
    var capacity: Int { elements.capacity + keys.capacity }

    /// The next deadline; nil if nothing waits. Its element may have been removed.
    var nextDeadline: SuspendingClock.Instant? { keys.first?.deadline }

    /// - Returns: the element's id, and whether `nextDeadline` has changed.
    mutating func insert(_ element: Element, at deadline: SuspendingClock.Instant) -> (id: ID, isNext: Bool) {
        lastID += 1
        elements[lastID] = element
        keys.append(Key(deadline: deadline, id: lastID))
        moveUp(keys.count - 1)
        return (lastID, keys[0].id == lastID)
    }

    /// - Returns: the element, or nil if it was removed or taken before.
    mutating func remove(_ id: ID) -> Element? {
        defer { shrink() }
        return elements.removeValue(forKey: id)
    }

    /// Takes all elements that are due.
    mutating func take(at now: SuspendingClock.Instant) -> [Element] {
        var due: [Element] = []
        while let first = keys.first, first.deadline <= now {
            keys.swapAt(0, keys.count - 1)
            keys.removeLast()
            moveDown(0)
            if let element = elements.removeValue(forKey: first.id) { due.append(element) }
        }
        shrink()
        return due
    }

    /// Removes keys without elements and unused memory when they exceed what is in use. Removing each key at once would
    /// need a search.
    private mutating func shrink() {
        guard keys.count > 2 * elements.count + 32 || elements.capacity > 4 * elements.count + 64 else { return }
        elements = elements.filter { _ in true }
        // A sorted array is a heap.
        keys = keys.filter { elements[$0.id] != nil }.sorted()
    }

    private mutating func moveUp(_ start: Int) {
        var index = start
        while index > 0, keys[index] < keys[(index - 1) / 2] {
            keys.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func moveDown(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < keys.count && keys[child] < keys[least] {
                least = child
            }
            if least == index { return }
            keys.swapAt(index, least)
            index = least
        }
    }
}
