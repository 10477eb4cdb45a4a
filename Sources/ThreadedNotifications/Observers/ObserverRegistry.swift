/// The observers of a center by name and object, in the order in which they were added: a pure value.
///
/// Objects are known by their hash only. Comparing two objects calls foreign code, which the caller does after it has
/// released the lock.
///
/// Cost: finding is independent of other names, and copies what it finds; adding takes constant time on average;
/// removing one of n observers of the same name and object takes log n steps, and sometimes shortens their list.
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
    mutating func add(_ observer: Observer, id: ObserverID, key: Key, receiver: UInt? = nil) -> [Observer] {
        if let receiver { methods[receiver, default: [:]][id] = observer }
        change(key) { $0.add(observer, id: id) }
        count += 1
        checkAt = max(16, min(checkAt, 2 * count))
        guard count >= checkAt else { return [] }
        checkAt = 2 * count
        return all
    }

    /// - Returns: the removed observer; nil if it was not there.
    mutating func remove(id: ObserverID, key: Key, receiver: UInt? = nil) -> Observer? {
        var removed: Observer?
        change(key) { removed = $0.remove(id: id) }
        guard let removed else { return nil }
        if let receiver {
            methods[receiver]?[id] = nil
            if methods[receiver]?.isEmpty == true { methods[receiver] = nil }
        }
        count -= 1
        return removed
    }

    /// Changes the list of a key, which exists while it has observers.
    private mutating func change(_ key: Key, _ body: (inout ObserverList<Observer>) -> Void) {
        let before = lists.count
        body(&lists[key, default: ObserverList()])
        if lists[key]?.isEmpty == true { lists[key] = nil }
        let change = lists.count - before
        if key.objectHash != nil { listsOfObjects += change }
        if key.name == nil { listsOfAnyName += change }
    }

    /// The observers that ask for this name, this object, both or neither, in the order in which they were added.
    func observers(matching name: String, objectHash: Int?, names scope: NameScope = .all) -> [Observer] {
        let asksForObject = objectHash != nil && listsOfObjects > 0
        if !asksForObject, scope == .named || scope == .all && listsOfAnyName == 0 {
            return lists[Key(name: name, objectHash: nil)]?.observers ?? []
        }
        let names: [String?] = scope == .all ? [name, nil] : scope == .named ? [name] : [nil]
        return ObserverList.merge(
            names.flatMap { name in
                (asksForObject ? [nil, objectHash] : [nil]).compactMap { lists[Key(name: name, objectHash: $0)] }
            })
    }

    /// True if no observer asks for an object, or was added as one. Then whatever `observers` returns matches.
    var isUnconditional: Bool { listsOfObjects == 0 && methods.isEmpty }

    /// All observers, in the order in which they were added.
    var all: [Observer] { ObserverList.merge(Array(lists.values)) }

    /// The observers that were added as one object, in that order.
    func observers(ofReceiver receiver: UInt) -> [Observer] {
        methods[receiver, default: [:]].sorted { $0.key < $1.key }.map(\.value)
    }
}

/// The observers of one name and object, in the order in which they were added.
private struct ObserverList<Observer> {
    private var ids: [ObserverID] = []
    /// Parallel to `ids`; nil where an observer was removed.
    private var slots: [Observer?] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }
    var observers: [Observer] { slots.compactMap(\.self) }

    mutating func add(_ observer: Observer, id: ObserverID) {
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
        slots[low] = nil
        count -= 1
        // An observer that was added last is often removed first, and leaves nothing to search or compact.
        while case .some(nil) = slots.last {
            slots.removeLast()
            ids.removeLast()
        }
        if slots.count > 16, count * 2 < slots.count {
            ids = zip(ids, slots).compactMap { $1 == nil ? nil : $0 }
            slots.removeAll { $0 == nil }
        }
        return removed
    }

    static func merge(_ lists: [ObserverList]) -> [Observer] {
        lists.flatMap { list in zip(list.ids, list.slots).compactMap { id, slot in slot.map { (id, $0) } } }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }
}

/// The observers that a thread found last, which its next post of the name uses if no observer was added or removed
/// since. Two threads that post do not wait for each other then, and each counts references to an array of its own.
///
/// The thread retains these observers until it posts another name or ends. Their handlers are released when they are
/// removed.
struct FoundObservers {
    /// Of the center's observers; 0: nothing was found.
    var version: UInt64 = 0
    var name = ""
    var observers: [Observer] = []
}
