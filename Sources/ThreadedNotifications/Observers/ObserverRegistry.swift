/// The observers of a center by name and object, in the order in which they were added: a pure value.
///
/// Objects are known by their hash only. Comparing two objects calls foreign code, which the caller does after it has
/// released the lock.
///
/// Cost: finding is independent of other names; adding takes constant time on average; removing one of n observers of
/// the same name and object takes log n steps, and sometimes shortens their list. The first change of a list after it
/// was found copies it.
struct ObserverRegistry<Observer> {
    /// The name and object that an observer asks for; nil is any.
    struct Key: Hashable {
        var name: String?
        var objectHash: Int?
    }

    /// Observers, by the name that they ask for.
    enum NameScope {
        case all
        /// Those that ask for the notification's name.
        case named
        /// Those that ask for any name.
        case any
    }

    /// Those that ask for a name and no object. Most programs have no others.
    private var named: [String: ObserverList<Observer>] = [:]
    private var lists: [Key: ObserverList<Observer>] = [:]
    /// The number of lists with an object, and of lists of any name. Most programs have none, and skip those look-ups.
    private var listsOfObjects = 0
    private var listsOfAnyName = 0
    /// The observers that were added as objects, by the addresses of these.
    private var methods: [UInt: [ObserverID: Observer]] = [:]

    /// The number of observers.
    private(set) var count = 0
    /// The number of observers at which the caller should check all of them next.
    private var checkAt = 16

    /// - Parameters:
    ///   - id: the observer's place in the order.
    ///   - receiver: the address of the object, if the observer was added as an object.
    /// - Returns: sometimes all observers, which the caller should check for those that can never be called again.
    mutating func add(_ observer: Observer, id: ObserverID, key: Key, receiver: UInt? = nil) -> [[Observer?]] {
        if let receiver { methods[receiver, default: [:]][id] = observer }
        change(key) { list in
            if list == nil { list = ObserverList() }
            list?.add(observer, id: id)
        }
        count += 1
        checkAt = max(16, min(checkAt, 2 * count))
        guard count >= checkAt else { return [] }
        checkAt = 2 * count
        return named.values.indices.map { named.values[$0].share() }
            + lists.values.indices.map { lists.values[$0].share() }
    }

    /// - Returns: the removed observer; nil if it was not there.
    mutating func remove(id: ObserverID, key: Key, receiver: UInt? = nil) -> Observer? {
        var removed: Observer?
        change(key) { list in
            removed = list?.remove(id: id)
            if list?.isEmpty == true { list = nil }
        }
        guard let removed else { return nil }
        if let receiver {
            methods[receiver]?[id] = nil
            if methods[receiver]?.isEmpty == true { methods[receiver] = nil }
        }
        count -= 1
        return removed
    }

    /// Changes the list of a key; nil: there is none.
    private mutating func change(_ key: Key, _ body: (inout ObserverList<Observer>?) -> Void) {
        if let name = key.name, key.objectHash == nil { return body(&named[name]) }
        let before = lists.count
        body(&lists[key])
        let change = lists.count - before
        if key.objectHash != nil { listsOfObjects += change }
        if key.name == nil { listsOfAnyName += change }
    }

    /// The observers that ask for this name, this object, both or neither, in the order in which they were added; nil
    /// where one was removed.
    mutating func observers(matching name: String, objectHash: Int?, names: NameScope = .all) -> [Observer?] {
        if lists.isEmpty || listsOfObjects == 0 && names == .named {
            guard names != .any, let index = named.index(forKey: name) else { return [] }
            return named.values[index].share()
        }
        var found: [ObserverList<Observer>] = []
        if names != .any {
            if let list = named[name] { found.append(list) }
            if let objectHash, let list = lists[Key(name: name, objectHash: objectHash)] { found.append(list) }
        }
        if names != .named, listsOfAnyName > 0 {
            if let list = lists[Key(name: nil, objectHash: nil)] { found.append(list) }
            if let objectHash, let list = lists[Key(name: nil, objectHash: objectHash)] { found.append(list) }
        }
        return ObserverList.merge(found)
    }

    /// True if no observer asks for an object, or was added as one. Then whatever `observers` returns matches.
    var isUnconditional: Bool { listsOfObjects == 0 && methods.isEmpty }

    /// All observers, in the order in which they were added.
    var all: [Observer] { ObserverList.merge(Array(named.values) + Array(lists.values)).compactMap(\.self) }

    /// The observers that were added as one object, in that order.
    func observers(ofReceiver receiver: UInt) -> [Observer] {
        methods[receiver, default: [:]].sorted { $0.key < $1.key }.map(\.value)
    }
}

/// The observers of one name and object, in the order in which they were added.
struct ObserverList<Observer> {
    private var ids: [ObserverID] = []
    /// Parallel to `ids`; nil where an observer was removed.
    private var slots: [Observer?] = []
    private var count = 0
    /// True if `share` has returned these slots.
    private var isShared = false

    var isEmpty: Bool { count == 0 }

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

    /// - Returns: the removed observer; nil if it was not there.
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
        // An observer that was added last is often removed first, and leaves nothing to search or compact.
        while case .some(nil) = slots.last {
            slots.removeLast()
            ids.removeLast()
        }
        if slots.count > 16, count * 2 < slots.count { removeEmptySlots() }
        return removed
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
