/// The observers of one name and object, in the order in which they were added.
struct ObserverList<Observer> {
    private var ids: [ObserverID]
    /// Parallel to `ids`; nil where an observer was removed.
    private var slots: [Observer?]
    private var count = 1
    /// True if `share` has returned these slots.
    private var isShared = false

    init(_ observer: Observer, id: ObserverID) {
        (ids, slots) = ([id], [observer])
    }

    /// The slots, for a caller that reads them after it has released the lock.
    mutating func share() -> [Observer?] {
        isShared = true
        return slots
    }

    /// Copies the slots before a change if a caller may be reading them without the lock. Swift would copy them only
    /// while the caller has them, which is correct, but the thread sanitizer does not see how Swift determines that,
    /// and reports a race.
    private mutating func unshare() {
        guard isShared else { return }
        slots = slots.map { $0 }
        isShared = false
    }

    mutating func add(_ observer: Observer, id: ObserverID) {
        unshare()
        ids.append(id)
        slots.append(observer)
        count += 1
        // Threads that add at the same time may come in another order than their numbers.
        var index = ids.count - 1
        while index > 0, ids[index - 1] > id {
            ids.swapAt(index, index - 1)
            slots.swapAt(index, index - 1)
            index -= 1
        }
    }

    /// - Returns: the removed observer, and whether it was the last; nil if it was not there.
    mutating func remove(id: ObserverID) -> (observer: Observer, wasLast: Bool)? {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        guard low < ids.count, ids[low] == id, let removed = slots[low] else { return nil }
        unshare()
        slots[low] = nil
        count -= 1
        // An observer that was added last is often removed first, and leaves nothing to search or compact.
        while case .some(nil) = slots.last {
            slots.removeLast()
            ids.removeLast()
        }
        if slots.count > 16, count * 2 < slots.count { removeEmptySlots() }
        return (removed, count == 0)
    }

    private mutating func removeEmptySlots() {
        ids = zip(ids, slots).compactMap { $1 == nil ? nil : $0 }
        slots.removeAll { $0 == nil }
    }

    static func merge(_ lists: [ObserverList]) -> [Observer?] {
        var all: [(id: ObserverID, observer: Observer)] = []
        for list in lists {
            for (id, slot) in zip(list.ids, list.slots) {
                if let slot { all.append((id, slot)) }
            }
        }
        return all.sorted { $0.id < $1.id }.map(\.observer)
    }
}
