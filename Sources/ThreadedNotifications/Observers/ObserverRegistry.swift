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
        if let index = lists.index(forKey: key) {
            lists.values[index].add(observer, id: id)
        } else {
            lists[key] = ObserverList(observer, id: id)
            countList(key, 1)
        }
        count += 1
        checkAt = max(16, min(checkAt, 2 * count))
        guard count >= checkAt else { return [] }
        checkAt = 2 * count
        return lists.values.indices.map { lists.values[$0].share() }
    }

    /// - Returns: the removed observer; nil if it was not there.
    mutating func remove(id: ObserverID, key: Key, receiver: UInt? = nil) -> Observer? {
        guard let index = lists.index(forKey: key) else { return nil }
        guard let (removed, wasLast) = lists.values[index].remove(id: id) else { return nil }
        if let receiver {
            methods[receiver]?[id] = nil
            if methods[receiver]?.isEmpty == true { methods[receiver] = nil }
        }
        count -= 1
        if wasLast {
            lists.remove(at: index)
            countList(key, -1)
        }
        return removed
    }

    /// The observers that ask for this name, this object, both or neither, in the order in which they were added; nil
    /// where one was removed.
    mutating func observers(matching name: String, objectHash: Int?, names: NameScope = .all) -> [Observer?] {
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

    /// True if no observer asks for an object, or was added as one. Then whatever `observers` returns matches.
    var isUnconditional: Bool { listsOfObjects == 0 && methods.isEmpty }

    /// All observers, in the order in which they were added.
    var all: [Observer] { ObserverList.merge(Array(lists.values)).compactMap(\.self) }

    /// The observers that were added as one object, in that order.
    func observers(ofReceiver receiver: UInt) -> [Observer] {
        methods[receiver, default: [:]].sorted { $0.key < $1.key }.map(\.value)
    }

    private mutating func countList(_ key: Key, _ change: Int) {
        if key.objectHash != nil { listsOfObjects += change }
        if key.name == nil { listsOfAnyName += change }
    }
}
