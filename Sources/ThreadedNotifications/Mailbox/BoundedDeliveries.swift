/// The deliveries that wait for one bounded observer: a pure value.
struct BoundedDeliveries<Item, Waiter: AnyObject> {
    typealias SequenceNumber = UInt64

    enum Decision {
        /// There is room. `displaced` was removed to make it.
        case room(displaced: (number: SequenceNumber, item: Item)?)
        case refuse
        /// The waiter was added. It is woken when there is room.
        case wait
    }

    private struct Held {
        var item: Item
        var hash: Int?
    }

    private var held: [SequenceNumber: Held] = [:]
    /// For `dropOldest`: the numbers, oldest first, from `firstOfOrder` on. Some are no longer held.
    private var order: [SequenceNumber] = []
    private var firstOfOrder = 0
    /// For `keepLatest`: the numbers of each hash.
    private var numbers: [Int: [SequenceNumber]] = [:]
    private var waiters: [Waiter] = []
    var isUnused: Bool { held.isEmpty && waiters.isEmpty }

    var waiting: [(number: SequenceNumber, item: Item)] { held.map { ($0.key, $0.value.item) } }

    func holds(_ number: SequenceNumber) -> Bool { held[number] != nil }

    func candidates(hash: Int) -> [(SequenceNumber, Item)] {
        (numbers[hash] ?? []).compactMap { number in held[number].map { (number, $0.item) } }
    }

    mutating func makeRoom(policy: OverflowPolicy, replacing: SequenceNumber?, waiter: Waiter?) -> Decision {
        switch policy.rule {
        case .unbounded:
            return .room(displaced: nil)
        case .keepLatest:
            guard let replacing, let item = remove(replacing) else { return .room(displaced: nil) }
            return .room(displaced: (replacing, item))
        case .dropOldest(let capacity):
            guard held.count >= capacity else { return .room(displaced: nil) }
            while true {
                let number = order[firstOfOrder]
                firstOfOrder += 1
                if let item = remove(number) { return .room(displaced: (number, item)) }
            }
        case .dropNewest(let capacity), .refuse(let capacity):
            return held.count < capacity ? .room(displaced: nil) : .refuse
        }
    }

    mutating func hold(_ item: Item, number: SequenceNumber, hash: Int?, policy: OverflowPolicy) {
        held[number] = Held(item: item, hash: hash)
        switch policy.rule {
        case .dropOldest:
            if firstOfOrder > 64, firstOfOrder * 2 > order.count {
                order.removeFirst(firstOfOrder)
                firstOfOrder = 0
            }
            order.append(number)
        case .keepLatest:
            if let hash { numbers[hash, default: []].append(number) }
        case .unbounded, .dropNewest, .refuse:
            break
        }
    }

    /// - Returns: the item, if it is still held, and the waiter that may use its room.
    mutating func take(_ number: SequenceNumber) -> (item: Item?, waiter: Waiter?) {
        guard let item = remove(number) else { return (nil, nil) }
        while firstOfOrder < order.count, held[order[firstOfOrder]] == nil { firstOfOrder += 1 }
        return (item, waiters.isEmpty ? nil : waiters.removeFirst())
    }

    mutating func removeWaiters() -> [Waiter] {
        defer { waiters = [] }
        return waiters
    }

    /// - Returns: whether it was there.
    mutating func removeWaiter(_ waiter: Waiter) -> Bool {
        guard let index = waiters.firstIndex(where: { $0 === waiter }) else { return false }
        waiters.remove(at: index)
        return true
    }

    private mutating func remove(_ number: SequenceNumber) -> Item? {
        guard let removed = held.removeValue(forKey: number) else { return nil }
        if let hash = removed.hash {
            numbers[hash]?.removeAll { $0 == number }
            if numbers[hash]?.isEmpty == true { numbers[hash] = nil }
        }
        return removed.item
    }
}
