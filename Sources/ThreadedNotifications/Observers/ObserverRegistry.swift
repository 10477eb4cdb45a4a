/// Which observers there are, in the order in which they were added, by name and object: a pure value.
///
/// Objects are known by their hash only: to compare two objects is foreign code, and is done by whoever has the lock
/// no more.
///
/// Cost: finding does not depend on what else is observed; adding is constant on average; removing one of n observers of
/// the same name and object takes log n steps, and now and then their list is shortened. The first change of a list
/// after it was found copies it.
struct ObserverRegistry<Observer> {
    /// What an observer asks for; nil is any.
    struct Key: Hashable {
        var name: String?
        var objectHash: Int?
    }

    private var lists: [Key: ObserverList<Observer>] = [:]
    /// How many lists are of an object, and how many of any name: most programs have none, and need not look.
    private var listsOfObjects = 0
    /// How many lists of an object each name has; nil is any name.
    private var namesWithObjects: [String?: Int] = [:]
    private var listsOfAnyName = 0

    /// How many observers there are.
    private(set) var count = 0
    /// At how many observers they are to be looked through next.
    private var lookThroughAt = 16

    /// - Parameter id: the observer's place among the others; two that are added at the same time may come in either order.
    /// - Returns: now and then all observers, to be looked through for those that can never be called again; else nothing.
    mutating func add(_ observer: Observer, id: ObserverID, key: Key) -> [[Observer?]] {
        if lists[key] == nil { countList(key, 1) }
        lists[key, default: ObserverList()].add(observer, id: id)
        count += 1
        lookThroughAt = max(16, min(lookThroughAt, 2 * count))
        guard count >= lookThroughAt else { return [] }
        lookThroughAt = 2 * count
        return lists.values.indices.map { lists.values[$0].share() }
    }

    /// - Returns: what was removed; nil if it was not there any more.
    mutating func remove(id: ObserverID, key: Key) -> Observer? {
        guard let index = lists.index(forKey: key) else { return nil }
        guard let removed = lists.values[index].remove(id: id) else { return nil }
        count -= 1
        if lists.values[index].count == 0 {
            lists.remove(at: index)
            countList(key, -1)
        }
        return removed
    }

    /// Those who ask for this name, or this object, or both, or neither, in the order in which they were added; nil where
    /// one was removed.
    /// - Parameter names: which of them, by the name they ask for.
    mutating func matching(name: String, objectHash: Int?, names: NameScope = .all) -> [Observer?] {
        var found: [Dictionary<Key, ObserverList<Observer>>.Index] = []
        func find(_ key: Key) {
            if let index = lists.index(forKey: key) { found.append(index) }
        }
        if names != .any {
            if listsOfObjects == 0, listsOfAnyName == 0 || names == .named {
                guard let index = lists.index(forKey: Key(name: name, objectHash: nil)) else { return [] }
                return lists.values[index].share()
            }
            find(Key(name: name, objectHash: nil))
            if let objectHash, listsOfObjects > 0 { find(Key(name: name, objectHash: objectHash)) }
        }
        if names != .named, listsOfAnyName > 0 {
            find(Key(name: nil, objectHash: nil))
            if let objectHash, listsOfObjects > 0 { find(Key(name: nil, objectHash: objectHash)) }
        }
        if found.count == 1 { return lists.values[found[0]].share() }
        return ObserverList.merge(found.map { lists.values[$0] })
    }

    /// Whether of those who match a name none asks for an object, so that they do not depend on it.
    func isOfAnyObject(name: String) -> Bool {
        listsOfObjects == 0 || namesWithObjects[name] == nil && namesWithObjects[nil] == nil
    }

    /// Which observers a notification is for, by the name they ask for.
    enum NameScope {
        case all
        /// Those that ask for its name.
        case named
        /// Those that ask for any name.
        case any
    }

    private mutating func countList(_ key: Key, _ change: Int) {
        if key.objectHash != nil {
            listsOfObjects += change
            namesWithObjects[key.name, default: 0] += change
            if namesWithObjects[key.name] == 0 { namesWithObjects[key.name] = nil }
        }
        if key.name == nil { listsOfAnyName += change }
    }
}

/// The observers of one name and object, in the order in which they were added.
struct ObserverList<Observer> {
    private var ids: [ObserverID] = []
    /// In step with `ids`; nil where one was removed.
    private var slots: [Observer?] = []
    private(set) var count = 0
    /// Whether `share` has returned these slots.
    private var isShared = false

    /// The slots, for a caller that reads them when it no longer holds the lock.
    mutating func share() -> [Observer?] {
        isShared = true
        return slots
    }

    /// Copies the slots before a change if a caller may have read them without the lock. Swift would copy them only
    /// while the caller still has them, which is correct, but the thread sanitizer does not know how Swift finds that
    /// out, and reports a race.
    private mutating func unshare() {
        guard isShared else { return }
        slots = slots.map { $0 }
        isShared = false
    }

    mutating func add(_ observer: Observer, id: ObserverID) {
        unshare()
        // At the end, but for those that are added at the same time.
        var place = ids.count
        while place > 0, ids[place - 1] > id { place -= 1 }
        ids.insert(id, at: place)
        slots.insert(observer, at: place)
        count += 1
    }

    mutating func remove(id: ObserverID) -> Observer? {
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle] < id { low = middle + 1 } else { high = middle }
        }
        guard low < ids.count, ids[low] == id, let removed = slots[low] else { return nil }
        unshare()
        slots[low] = nil
        count -= 1
        if slots.count > 16, count * 2 < slots.count { closeGaps() }
        return removed
    }

    private mutating func closeGaps() {
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
