internal import DistributedNotifications

/// The observers of all clients, by the names and objects that they observe.
///
/// An observer's nil name or nil object matches all. A post without an object matches only observers without one.
///
/// Cost: a post takes four lookups and time for each observer that matches; other observers do not count. Registering
/// and unregistering takes time for each client with the same filter.
struct ObserverTable {
    /// A client with observers that match a post.
    struct Match: Hashable, Sendable {
        var client: Int
        /// In the order in which they were registered.
        var observers: [MatchingObserver]
    }

    /// An observer that a client registered.
    struct Registered: Hashable, Sendable {
        var registration: UInt32
        var name: ByteString?
        var object: ByteString?
        var behavior: SuspensionBehavior
    }

    private struct Filter: Hashable {
        var name: ByteString?
        var object: ByteString?
    }

    /// An observer of a client, and its position among all observers.
    private struct Entry {
        var filter: Filter
        var order: UInt64
        var behavior: SuspensionBehavior
    }

    private struct Observer {
        var order: UInt64
        var matching: MatchingObserver
    }

    /// A client's observers with one filter, in the order of registration.
    private struct Observers {
        var client: Int
        var all: [Observer]
    }

    /// The observers of each filter, in the order of their clients' numbers.
    private var filters: [Filter: [Observers]] = [:]
    private var clients: [Int: [UInt32: Entry]] = [:]
    private var nextOrder: UInt64 = 0

    /// Changes with each change of the table. A result of `matches` is valid while the version is the same.
    private(set) var version: UInt64 = 0

    // MARK: Changes

    /// - Returns: false if the client has an observer with this number; then nothing changes.
    mutating func register(
        client: Int, registration: UInt32, name: ByteString?, object: ByteString?, behavior: SuspensionBehavior
    ) -> Bool {
        guard clients[client]?[registration] == nil else { return false }
        let filter = Filter(name: name, object: object)
        clients[client, default: [:]][registration] = Entry(filter: filter, order: nextOrder, behavior: behavior)
        let observer = Observer(
            order: nextOrder, matching: MatchingObserver(registration: registration, behavior: behavior))
        Self.insert(observer, of: client, into: &filters[filter, default: []])
        nextOrder += 1
        version += 1
        return true
    }

    /// - Returns: false if there is no such observer; then nothing changes.
    mutating func unregister(client: Int, registration: UInt32) -> Bool {
        guard let position = clients[client]?.removeValue(forKey: registration) else { return false }
        if clients[client]?.isEmpty == true { clients[client] = nil }
        change(position.filter, of: client) { all in
            let index = Self.index(in: all) { $0.order < position.order }
            all.remove(at: index)
        }
        version += 1
        return true
    }

    /// Removes all observers of a client.
    mutating func removeClient(_ client: Int) {
        guard let places = clients.removeValue(forKey: client) else { return }
        for filter in Set(places.values.map(\.filter)) {
            change(filter, of: client) { $0.removeAll() }
        }
        version += 1
    }

    private static func insert(_ observer: Observer, of client: Int, into observers: inout [Observers]) {
        let index = index(in: observers) { $0.client < client }
        if index < observers.count, observers[index].client == client {
            observers[index].all.append(observer)
        } else {
            observers.insert(Observers(client: client, all: [observer]), at: index)
        }
    }

    /// Changes a client's observers with a filter. Empty lists are removed.
    private mutating func change(_ filter: Filter, of client: Int, _ body: (inout [Observer]) -> Void) {
        guard let position = filters.index(forKey: filter) else { return }
        let index = Self.index(in: filters.values[position]) { $0.client < client }
        body(&filters.values[position][index].all)
        guard filters.values[position][index].all.isEmpty else { return }
        filters.values[position].remove(at: index)
        if filters.values[position].isEmpty { filters.remove(at: position) }
    }

    /// The index after the last element for which `isBefore` is true, in an ordered array.
    private static func index<Element>(in array: [Element], where isBefore: (Element) -> Bool) -> Int {
        var (low, high) = (0, array.count)
        while low < high {
            let middle = low + (high - low) / 2
            if isBefore(array[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Questions

    /// - Returns: the clients with observers that match a post, in the order of their numbers.
    func matches(name: UnsafeRawBufferPointer, object: UnsafeRawBufferPointer?) -> [Match] {
        let name = ByteString(name)
        var found = [filters[Filter(name: name)], filters[Filter()]]
        if let object {
            let object = ByteString(object)
            found += [filters[Filter(name: name, object: object)], filters[Filter(object: object)]]
        }
        return Self.merged(found.compactMap(\.self))
    }

    private static func merged(_ lists: [[Observers]]) -> [Match] {
        var matches: [Match] = []
        var heads = lists.map { _ in 0 }
        while true {
            var client: Int?
            for (list, head) in zip(lists, heads) where head < list.count {
                client = min(client ?? .max, list[head].client)
            }
            guard let client else { return matches }
            var observers: [Observer] = []
            var isInOrder = true
            for index in lists.indices where heads[index] < lists[index].count {
                let head = lists[index][heads[index]]
                guard head.client == client else { continue }
                isInOrder = observers.isEmpty
                observers += head.all
                heads[index] += 1
            }
            if !isInOrder { observers.sort { $0.order < $1.order } }
            matches.append(Match(client: client, observers: observers.map(\.matching)))
        }
    }

    /// The number of observers of a client.
    func count(of client: Int) -> Int { clients[client]?.count ?? 0 }

    /// The observers of a client, in the order of registration.
    ///
    /// Cost: it sorts them, so it is meant for reports.
    func registrations(of client: Int) -> [Registered] {
        (clients[client] ?? [:]).sorted { $0.value.order < $1.value.order }.map { registration, position in
            Registered(
                registration: registration, name: position.filter.name, object: position.filter.object,
                behavior: position.behavior)
        }
    }
}
