internal import DistributedNotifications

/// The observers of all clients, by the names and objects that they observe.
///
/// An observer's nil name or nil object matches all. A post without an object matches only observers without one.
///
/// Cost: a post with a name and an object that were posted before takes one lookup, until an observer is added or
/// removed; another one takes five, and a sort of the observers that match.
struct ObserverTable {
    struct Observer {
        let client: ServerClient
        /// The name and object that it observes.
        let filter: NameAndObject
        let matching: MatchingObserver
        /// Its number among all observers.
        let order: Int
    }

    /// A client with observers that match a post, in the order in which they were registered.
    typealias Recipient = (client: ServerClient, observers: [MatchingObserver])

    /// The observers of each filter. No list is empty.
    private var filters: [NameAndObject: [Observer]] = [:]
    private var count = 0
    /// What `recipients` has returned since the last change.
    private var known: [NameAndObject: [Recipient]] = [:]
    private static let knownLimit = 256

    /// Adds an observer after all others.
    /// - Returns: the observer to pass to `remove`.
    mutating func add(_ filter: NameAndObject, _ matching: MatchingObserver, of client: ServerClient) -> Observer {
        let observer = Observer(client: client, filter: filter, matching: matching, order: count)
        count += 1
        filters[filter, default: []].append(observer)
        known = [:]
        return observer
    }

    mutating func remove(_ observers: some Sequence<Observer>) {
        for observer in observers {
            filters[observer.filter]?.removeAll { $0.order == observer.order }
            if filters[observer.filter]?.isEmpty == true { filters[observer.filter] = nil }
        }
        known = [:]
    }

    /// - Returns: the clients with observers that match a post, in the order in which they connected.
    mutating func recipients(of post: NameAndObject) -> [Recipient] {
        if let recipients = known[post] { return recipients }
        let observers = post.filters.flatMap { filters[$0] ?? [] }
        var recipients: [Recipient] = []
        for observer in observers.sorted(by: { ($0.client.number, $0.order) < ($1.client.number, $1.order) }) {
            if recipients.last?.client !== observer.client { recipients.append((observer.client, [])) }
            recipients[recipients.count - 1].observers.append(observer.matching)
        }
        if known.count >= Self.knownLimit { known = [:] }
        known[post] = recipients
        return recipients
    }
}

/// An observer of a client that matches a post.
struct MatchingObserver: Hashable, Sendable {
    /// The number that the client gave it.
    var registration: UInt32
    var behavior: SuspensionBehavior
}
