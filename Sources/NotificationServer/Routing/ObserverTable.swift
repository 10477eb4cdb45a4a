internal import DistributedNotifications

/// The observers of all clients, by the names and objects that they observe.
///
/// An observer's nil name or nil object matches all. A post without an object matches only observers without one.
///
/// Cost: a post takes four lookups and time for each observer that matches; other observers do not count. Registering
/// and unregistering move the observers of the same name and object that follow.
struct ObserverTable {
    /// A client with observers that match a post, in the order in which they were registered.
    struct Match: Hashable, Sendable {
        var client: Int
        var observers: [MatchingObserver]
    }

    struct Observer: Hashable, Sendable {
        var client: Int
        /// The name and object that it observes.
        var filter: NameAndObject
        var matching: MatchingObserver
        /// Its number among all observers, which the table sets.
        fileprivate(set) var order = 0

        fileprivate func isBefore(_ other: Observer) -> Bool { (client, order) < (other.client, other.order) }
    }

    /// The observers of each filter, in the order of their clients' numbers and of registration.
    private var filters: [NameAndObject: [Observer]] = [:]
    private var count = 0

    /// Changes with each change of the table. A result of `matches` is valid while the version is the same.
    private(set) var version = 0

    // MARK: Changes

    /// Adds an observer after all others.
    /// - Returns: the observer to pass to `remove`.
    mutating func add(_ observer: Observer) -> Observer {
        var observer = observer
        observer.order = count
        let index = Self.index(of: observer, in: filters[observer.filter])
        filters[observer.filter, default: []].insert(observer, at: index)
        count += 1
        version += 1
        return observer
    }

    mutating func remove(_ observer: Observer) {
        let index = Self.index(of: observer, in: filters[observer.filter])
        change(observer.filter) { $0.remove(at: index) }
    }

    /// Removes all observers of a client.
    mutating func remove(_ observers: some Collection<Observer>, of client: Int) {
        for filter in Set(observers.map(\.filter)) { change(filter) { $0.removeAll { $0.client == client } } }
    }

    /// Changes the observers with a filter. An empty list is removed.
    private mutating func change(_ filter: NameAndObject, _ body: (inout [Observer]) -> Void) {
        guard let position = filters.index(forKey: filter) else { return }
        body(&filters.values[position])
        if filters.values[position].isEmpty { filters.remove(at: position) }
        version += 1
    }

    /// The position at which an observer is, or belongs.
    private static func index(of observer: Observer, in observers: [Observer]?) -> Int {
        let observers = observers ?? []
        var (low, high) = (0, observers.count)
        while low < high {
            let middle = low + (high - low) / 2
            if observers[middle].isBefore(observer) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// - Returns: the clients with observers that match a post, in the order of their numbers.
    func matches(name: UnsafeRawBufferPointer, object: UnsafeRawBufferPointer?) -> [Match] {
        var lists = [filters[NameAndObject(name: name)], filters[NameAndObject()]]
        if let object {
            lists += [filters[NameAndObject(name: name, object: object)], filters[NameAndObject(object: object)]]
        }
        let found = lists.compactMap(\.self)
        let observers = found.count == 1 ? found[0] : found.joined().sorted { $0.isBefore($1) }
        var matches: [Match] = []
        for observer in observers {
            if matches.last?.client != observer.client { matches.append(Match(client: observer.client, observers: [])) }
            matches[matches.count - 1].observers.append(observer.matching)
        }
        return matches
    }
}

/// An observer of a client that matches a post.
struct MatchingObserver: Hashable, Sendable {
    /// The number that the client gave it.
    var registration: UInt32
    var behavior: SuspensionBehavior
}
