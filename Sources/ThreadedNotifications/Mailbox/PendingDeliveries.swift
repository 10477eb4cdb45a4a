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
/// Cost: constant for each operation, also at worst: a lane is a list of chunks, so nothing that waits is ever moved. Chunks
/// that were emptied are used again.
struct PendingDeliveries<Item: PendingItem, Waiter: AnyObject> {
    typealias Place = UInt64
    typealias Chunk = DeliveryChunk<Entry>

    /// Something in a lane.
    enum Content {
        case item(Item)
        /// It is with the observer's other ones, unless it was dropped since.
        case held(by: ObserverID)
        /// It was taken out.
        case taken
    }

    struct Entry {
        var place: Place
        /// Whose held one it is; 0: it is an item.
        let holder: ObserverID
        /// Of an entry that is none, `nothing`: an optional would be asked through its type each time.
        let item: Item

        @inline(__always)
        init(place: Place, item: consuming Item) {
            self.place = place
            holder = 0
            self.item = item
        }

        init(place: Place, heldBy holder: ObserverID) {
            self.place = place
            self.holder = holder
            item = .nothing
        }

        /// Stands where one was taken out.
        static var taken: Entry { Entry(place: 0, heldBy: .max) }

        var content: Content {
            switch holder {
            case 0: .item(item)
            case .max: .taken
            default: .held(by: holder)
            }
        }
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
        /// Oldest first, and before `last`.
        var full: [Chunk] = []
        var last = Chunk()
        /// How many chunks `last` has been.
        var chunkNumber: UInt64 = 1
        /// How many entries stand for an item that was dropped.
        var dropped = 0

        var isEmpty: Bool { last.entries.isEmpty && full.isEmpty }
        var count: Int { full.reduce(last.entries.count) { $0 + $1.entries.count } }
        var firstPlace: Place? { (full.first ?? last).entries.first?.place }
    }

    private var lanes: [Lane] = []
    private var bounded: [ObserverID: BoundedDeliveries<Item, Waiter>] = [:]
    private(set) var nextPlace: Place = 1
    /// To be used again.
    private var spares: [Chunk] = []
    /// Changes whenever something of a bounded observer comes or goes.
    private(set) var version: UInt64 = 0
    /// In how many lanes something waits, or stands for what was dropped.
    private(set) var waitingLanes = 0

    /// - Returns: the new lane's number.
    mutating func addLane() -> Int {
        lanes.append(Lane())
        return lanes.count - 1
    }

    func isEmpty(lane: Int) -> Bool { lanes[lane].isEmpty }

    /// Whether something that was appended before a place waits in a lane.
    func hasEntry(before place: Place, lane: Int) -> Bool { lanes[lane].firstPlace.map { $0 < place } ?? false }

    /// Adds to the end of a lane.
    /// - Returns: whether the lane must be signalled.
    @inline(__always)
    mutating func append(_ item: consuming Item, lane: Int) -> Bool {
        append(Entry(place: nextPlace, item: item), lane: lane)
    }

    @inline(__always)
    private mutating func append(_ entry: consuming Entry, lane: Int) -> Bool {
        if lanes[lane].last.isFull { addChunk(to: lane) }
        nextPlace = nextPlace &+ 1
        lanes[lane].last.entries.append(entry)
        guard lanes[lane].last.entries.count == 1, lanes[lane].full.isEmpty else { return false }
        waitingLanes += 1
        return true
    }

    @inline(never)
    private mutating func addChunk(to lane: Int) {
        var chunk = spares.popLast() ?? Chunk.next
        swap(&chunk, &lanes[lane].last)
        lanes[lane].full.append(chunk)
        lanes[lane].chunkNumber += 1
    }

    /// Has the chunk that was appended to last keep an object until all in it was delivered, if it does not do so yet.
    /// - Parameter known: which of the lane's chunks keeps it for sure.
    @inline(__always)
    mutating func keep(_ object: AnyObject, lane: Int, known: inout UInt64) {
        guard known != lanes[lane].chunkNumber else { return }
        known = lanes[lane].chunkNumber
        lanes[lane].last.kept.append(object)
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
            let mustSignal = append(Entry(place: nextPlace, heldBy: observer), lane: lane)
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

    /// Moves what waits in a lane to the end of a list, oldest first.
    mutating func takeAll(lane: Int, into chunks: inout [Chunk]) {
        guard !lanes[lane].isEmpty else { return }
        waitingLanes -= 1
        if chunks.isEmpty {
            swap(&chunks, &lanes[lane].full)
        } else {
            chunks.append(contentsOf: lanes[lane].full)
            lanes[lane].full.removeAll()
        }
        var last = spares.popLast() ?? Chunk()
        swap(&last, &lanes[lane].last)
        if !last.entries.isEmpty { chunks.append(last) }
        lanes[lane].chunkNumber += 1
        lanes[lane].dropped = 0
    }

    /// Takes chunks to use again, that are empty and keep nothing, for those that it has, if they are more. It takes no longer for
    /// more of them, because posting threads wait meanwhile.
    mutating func reuse(_ chunks: inout [Chunk]) {
        if chunks.count > spares.count { swap(&chunks, &spares) }
    }

    /// Empties everything.
    /// - Returns: the items in the order of appending, who waited for room, and what is to be kept until all items are told.
    mutating func removeAll() -> (items: [Item], waiters: [Waiter], kept: [AnyObject]) {
        var items: [(place: Place, item: Item)] = []
        var kept: [AnyObject] = []
        for lane in lanes.indices {
            for chunk in lanes[lane].full + [lanes[lane].last] {
                kept += chunk.kept
                for entry in chunk.entries {
                    if case .item(let item) = entry.content { items.append((entry.place, item)) }
                }
            }
            let number = lanes[lane].chunkNumber
            lanes[lane] = Lane()
            lanes[lane].chunkNumber = number + 1
        }
        waitingLanes = 0
        spares = []
        var waiters: [Waiter] = []
        for var held in bounded.values {
            items += held.waiting
            waiters += held.removeWaiters()
        }
        bounded = [:]
        return (items.sorted { $0.place < $1.place }.map(\.item), waiters, kept)
    }

    /// An entry's item was dropped. When half of a lane stands for nothing, those entries go: a lane that is never drained
    /// stays as short as what waits in it.
    private mutating func entryWasDropped(_ place: Place, lane: Int) {
        guard let first = lanes[lane].firstPlace, first <= place else { return }
        lanes[lane].dropped += 1
        guard lanes[lane].dropped > 32, lanes[lane].dropped * 2 > lanes[lane].count else { return }
        func standsForNothing(_ entry: Entry) -> Bool {
            guard case .held(let observer) = entry.content else { return false }
            return bounded[observer]?.holds(entry.place) != true
        }
        for index in lanes[lane].full.indices { lanes[lane].full[index].entries.removeAll(where: standsForNothing) }
        lanes[lane].full.removeAll { $0.entries.isEmpty && $0.kept.isEmpty }
        lanes[lane].last.entries.removeAll(where: standsForNothing)
        if lanes[lane].isEmpty { waitingLanes -= 1 }
        lanes[lane].dropped = 0
    }
}

/// What may wait for a thread.
protocol PendingItem {
    /// Stands where there is none.
    static var nothing: Self { get }
}
