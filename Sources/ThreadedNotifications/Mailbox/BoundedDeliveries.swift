/// What waits for one observer whose policy bounds how much may: a pure value.
struct BoundedDeliveries<Item, Waiter: AnyObject> {
    typealias Place = UInt64

    enum Decision {
        /// There is room; `displaced` made it by going.
        case room(displaced: (place: Place, item: Item)?)
        case refuse
        /// The waiter was noted, and will be told when there is room.
        case wait
    }

    private struct Held {
        var item: Item
        var hash: Int?
    }

    private var held: [Place: Held] = [:]
    /// Oldest first; those no longer held are passed over. Kept only for the policy that drops the oldest.
    private var order: [Place] = []
    private var firstOfOrder = 0
    /// The places of one hash. Kept only for the policy that keeps the latest.
    private var places: [Int: [Place]] = [:]
    private var waiters: [Waiter] = []
    var isUnused: Bool { held.isEmpty && waiters.isEmpty }

    var waiting: [(place: Place, item: Item)] { held.map { ($0.key, $0.value.item) } }

    func holds(_ place: Place) -> Bool { held[place] != nil }

    func candidates(hash: Int) -> [(Place, Item)] {
        (places[hash] ?? []).compactMap { place in held[place].map { (place, $0.item) } }
    }

    mutating func makeRoom(policy: OverflowPolicy, replacing: Place?, waiter: Waiter?) -> Decision {
        switch policy {
        case .unbounded:
            return .room(displaced: nil)
        case .keepLatest:
            guard let replacing, let item = remove(replacing) else { return .room(displaced: nil) }
            return .room(displaced: (replacing, item))
        case .dropOldest(let capacity):
            guard held.count >= capacity else { return .room(displaced: nil) }
            while true {
                let place = order[firstOfOrder]
                firstOfOrder += 1
                if let item = remove(place) { return .room(displaced: (place, item)) }
            }
        case .dropNewest(let capacity), .refuse(let capacity):
            return held.count < capacity ? .room(displaced: nil) : .refuse
        case .block(let capacity, _):
            if held.count < capacity { return .room(displaced: nil) }
            guard let waiter else { return .refuse }
            waiters.append(waiter)
            return .wait
        }
    }

    mutating func hold(_ item: Item, place: Place, hash: Int?, policy: OverflowPolicy) {
        held[place] = Held(item: item, hash: hash)
        switch policy {
        case .dropOldest:
            if firstOfOrder > 64, firstOfOrder * 2 > order.count {
                order.removeFirst(firstOfOrder)
                firstOfOrder = 0
            }
            order.append(place)
        case .keepLatest:
            if let hash { places[hash, default: []].append(place) }
        case .unbounded, .dropNewest, .refuse, .block:
            break
        }
    }

    /// - Returns: the item, if it is still held, and who may have its room.
    mutating func take(_ place: Place) -> (item: Item?, waiter: Waiter?) {
        guard let item = remove(place) else { return (nil, nil) }
        while firstOfOrder < order.count, held[order[firstOfOrder]] == nil { firstOfOrder += 1 }
        return (item, waiters.isEmpty ? nil : waiters.removeFirst())
    }

    mutating func removeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    /// - Returns: whether it waited still.
    mutating func removeWaiter(_ waiter: Waiter) -> Bool {
        guard let index = waiters.firstIndex(where: { $0 === waiter }) else { return false }
        waiters.remove(at: index)
        return true
    }

    private mutating func remove(_ place: Place) -> Item? {
        guard let removed = held.removeValue(forKey: place) else { return nil }
        if let hash = removed.hash {
            places[hash]?.removeAll { $0 == place }
            if places[hash]?.isEmpty == true { places[hash] = nil }
        }
        return removed.item
    }
}
