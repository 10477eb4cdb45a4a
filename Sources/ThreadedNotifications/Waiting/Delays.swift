/// Elements that wait for their deadlines: a pure value.
///
/// Elements of the same deadline keep the order in which they were inserted. Inserting, removing and taking one takes
/// logarithmic time on average.
struct Delays<Element> {
    typealias ID = UInt64

    private struct Key: Comparable {
        var deadline: ContinuousClock.Instant
        var id: ID

        static func < (one: Key, other: Key) -> Bool {
            (one.deadline, one.id) < (other.deadline, other.id)
        }
    }

    private var elements: [ID: Element] = [:]
    /// A binary heap: no key is less than its parent, at half its place. It also holds keys of elements that were
    /// removed.
    private var keys: [Key] = []
    private var lastID: ID = 0

    /// For how many elements and keys there is memory.
    var capacity: Int { elements.capacity + keys.capacity }

    /// The deadline to look next at; nil if nothing waits. There may be nothing to take then.
    var nextDeadline: ContinuousClock.Instant? { keys.first?.deadline }

    /// - Returns: the element's id, and whether `nextDeadline` has changed.
    mutating func insert(_ element: Element, at deadline: ContinuousClock.Instant) -> (id: ID, isNext: Bool) {
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

    /// Takes all elements whose deadlines have passed.
    mutating func take(at now: ContinuousClock.Instant) -> [Element] {
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

    /// Removes the keys without elements, and unused memory, when there is more of it than is in use. To remove each
    /// key at once would cost a search.
    private mutating func shrink() {
        guard keys.count > 2 * elements.count + 32 || elements.capacity > 4 * elements.count + 64 else { return }
        elements = elements.filter { _ in true }
        // A sorted array is a heap.
        keys = keys.filter { elements[$0.id] != nil }.sorted()
    }

    private mutating func moveUp(_ start: Int) {
        var place = start
        while place > 0, keys[place] < keys[(place - 1) / 2] {
            keys.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func moveDown(_ start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < keys.count && keys[child] < keys[least] {
                least = child
            }
            if least == place { return }
            keys.swapAt(place, least)
            place = least
        }
    }
}
