/// What waits for a thread, first in, first out: the document's array, as a pure value.
///
/// It has no lock, thread or clock; its owner has them and does what is answered. There is a lane for each set of run loop
/// modes. What is appended stays here until a drain takes all of a lane; what a drain has taken is `TakenDeliveries`.
///
///     empty ──append: signal──► waiting ──append: nothing──► waiting
///       ▲                          │
///       └────────── takeAll ───────┘
///
/// A lane is signalled whenever something is appended to it while it is empty; so whatever waits in it has been signalled
/// after it was last emptied.
///
/// A bounded observer's items are held in its `BoundedDeliveries`; the lane holds their places only, so that one can be
/// dropped from the middle. Places are never used again.
///
/// Cost: constant for each operation, on average.
struct PendingDeliveries<Item, Waiter: AnyObject> {
    typealias Place = UInt64

    /// Something in a lane.
    enum Content {
        case item(Item)
        /// It is with the observer's other ones, unless it was dropped since.
        case held(by: ObserverID)
    }

    struct Entry {
        var place: Place
        var content: Content
    }

    /// What becomes of an item for a bounded observer.
    enum BoundedOutcome {
        /// It was appended; `displaced` was dropped for it, or coalesced into it.
        case appended(mustSignal: Bool, displaced: Item?)
        /// The policy has no room for it.
        case refused
        /// The policy has it wait until there is room; the waiter was noted.
        case wait
    }

    private struct Lane {
        var appended: [Entry] = []
        /// How many of them stand for an item that was dropped.
        var dropped = 0
    }

    private var lanes: [Lane] = []
    private var bounded: [ObserverID: BoundedDeliveries<Item, Waiter>] = [:]
    private var nextPlace: Place = 1
    /// Changes whenever something of a bounded observer comes or goes.
    private(set) var version: UInt64 = 0

    /// - Returns: the new lane's number.
    mutating func addLane() -> Int {
        lanes.append(Lane())
        return lanes.count - 1
    }

    func isEmpty(lane: Int) -> Bool { lanes[lane].appended.isEmpty }

    /// Adds to the end of a lane.
    /// - Returns: whether the lane must be signalled.
    mutating func append(_ item: Item, lane: Int) -> Bool {
        append(.item(item), lane: lane)
    }

    private mutating func append(_ content: Content, lane: Int) -> Bool {
        let wasEmpty = lanes[lane].appended.isEmpty
        lanes[lane].appended.append(Entry(place: nextPlace, content: content))
        nextPlace += 1
        return wasEmpty
    }

    /// - Returns: the first of so many places for what does not wait here.
    mutating func reservePlaces(_ count: Int) -> Place {
        defer { nextPlace += Place(count) }
        return nextPlace
    }

    /// Adds an item of a bounded observer to the end of a lane, if its policy allows.
    ///
    /// - Parameters:
    ///   - replacing: for the policy that keeps the latest, which waiting place it replaces.
    ///   - waiter: who waits if there is no room; nil if nobody can.
    mutating func append(
        _ item: Item, lane: Int, observer: ObserverID, policy: OverflowPolicy, replacing: Place? = nil,
        hash: Int? = nil, waiter: Waiter? = nil
    ) -> BoundedOutcome {
        let decision = bounded[observer, default: BoundedDeliveries()].makeRoom(
            policy: policy, replacing: replacing, waiter: waiter)
        switch decision {
        case .refuse: return .refused
        case .wait: return .wait
        case .room(let displaced):
            version += 1
            bounded[observer, default: BoundedDeliveries()].hold(item, place: nextPlace, hash: hash, policy: policy)
            if let displaced { entryWasDropped(displaced.place, lane: lane) }
            let mustSignal = append(.held(by: observer), lane: lane)
            return .appended(mustSignal: mustSignal, displaced: displaced?.item)
        }
    }

    /// What waits of this observer whose key has this hash. It is so still while `version` stays the same.
    func candidates(observer: ObserverID, hash: Int) -> [(Place, Item)] {
        bounded[observer]?.candidates(hash: hash) ?? []
    }

    /// Takes out what a bounded observer's entry stands for.
    /// - Returns: the item, nil if it was dropped; and who waited for room.
    mutating func takeHeld(by observer: ObserverID, place: Place) -> (item: Item?, waiter: Waiter?) {
        guard let index = bounded.index(forKey: observer) else { return (nil, nil) }
        version += 1
        let taken = bounded.values[index].take(place)
        if bounded.values[index].isUnused { bounded.remove(at: index) }
        return taken
    }

    /// Forgets who waits for room for this observer.
    mutating func removeWaiters(of observer: ObserverID) -> [Waiter] {
        guard let index = bounded.index(forKey: observer) else { return [] }
        defer { if bounded.values[index].isUnused { bounded.remove(at: index) } }
        return bounded.values[index].removeWaiters()
    }

    /// Forgets one who waited for room, and waits no longer.
    /// - Returns: whether it waited still; else it was told that there is room, or that there never will be.
    mutating func removeWaiter(_ waiter: Waiter, of observer: ObserverID) -> Bool {
        guard let index = bounded.index(forKey: observer) else { return false }
        defer { if bounded.values[index].isUnused { bounded.remove(at: index) } }
        return bounded.values[index].removeWaiter(waiter)
    }

    /// Empties a lane into an empty buffer, oldest first; the buffer's storage is used from now on.
    mutating func takeAll(lane: Int, into buffer: inout [Entry]) {
        swap(&lanes[lane].appended, &buffer)
        lanes[lane].dropped = 0
    }

    /// Empties everything.
    mutating func removeAll() -> (items: [Item], waiters: [Waiter]) {
        var items: [(place: Place, item: Item)] = []
        for lane in lanes.indices {
            for entry in lanes[lane].appended {
                if case .item(let item) = entry.content { items.append((entry.place, item)) }
            }
            lanes[lane] = Lane()
        }
        var waiters: [Waiter] = []
        for var held in bounded.values {
            items += held.waiting
            waiters += held.removeWaiters()
        }
        bounded = [:]
        return (items.sorted { $0.place < $1.place }.map(\.item), waiters)
    }

    /// An entry's item was dropped. When half of a lane stands for nothing, those entries go: a lane that is never drained
    /// stays as short as what waits in it.
    private mutating func entryWasDropped(_ place: Place, lane: Int) {
        guard let first = lanes[lane].appended.first, first.place <= place else { return }
        lanes[lane].dropped += 1
        guard lanes[lane].dropped > 32, lanes[lane].dropped * 2 > lanes[lane].appended.count else { return }
        lanes[lane].appended.removeAll { entry in
            guard case .held(let observer) = entry.content else { return false }
            return bounded[observer]?.holds(entry.place) != true
        }
        lanes[lane].dropped = 0
    }
}
