/// The deliveries that wait for a thread, first in, first out: the document's array, as a pure value.
///
/// There is a queue for each set of run loop modes. An entry stays here until a drain takes its whole queue; from then
/// on it is in `TakenDeliveries`.
///
///     empty ──append: signal──► waiting ──append: nothing──► waiting
///       ▲                          │
///       └────────── takeAll ───────┘
///
/// A queue is signalled when an entry is appended to it while it is empty. So a queue that is not empty was signalled
/// after it was last emptied.
///
/// The items of a bounded observer are in its `BoundedDeliveries`; the queue has only their sequence numbers, so that
/// one can be dropped from the middle. Sequence numbers are never reused.
///
/// Cost: each operation takes constant time, also in the worst case: a queue is a list of chunks, and no entry is
/// moved. Empty chunks are reused.
struct PendingDeliveries<Item: PendingItem, Waiter: AnyObject> {
    typealias SequenceNumber = UInt64
    typealias Chunk = DeliveryChunk<Entry>

    /// The meaning of an entry.
    enum Content {
        case item(Item)
        /// The item is in the observer's `BoundedDeliveries`, unless it was dropped since.
        case held(by: ObserverID)
        /// The item was taken.
        case taken
    }

    struct Entry {
        var number: SequenceNumber
        /// The bounded observer that has the item; 0: the item is here.
        let holder: ObserverID
        /// `nothing` if there is none. An optional would be slower, because it is generic.
        let item: Item

        @inline(__always)
        init(number: SequenceNumber, item: consuming Item) {
            self.number = number
            holder = 0
            self.item = item
        }

        init(number: SequenceNumber, heldBy holder: ObserverID) {
            self.number = number
            self.holder = holder
            item = .nothing
        }

        /// Replaces an entry that was taken.
        static var taken: Entry { Entry(number: 0, heldBy: .max) }

        var content: Content {
            switch holder {
            case 0: .item(item)
            case .max: .taken
            default: .held(by: holder)
            }
        }
    }

    /// The result of appending an item for a bounded observer.
    enum BoundedResult {
        /// It was appended; `displaced` was dropped for it, or coalesced into it.
        case appended(mustSignal: Bool, displaced: Item?)
        /// The policy has no room for it.
        case refused
        /// The policy waits for room; the waiter was added.
        case wait
        /// Others wait for the observer, which make it obsolete.
        case obsolete
    }

    private struct Queue {
        /// The chunks before `last`, oldest first.
        var full: [Chunk] = []
        var last = Chunk()
        var lastChunk: UInt64 = 1
        /// The number of entries without an item, because it was dropped.
        var dropped = 0

        var isEmpty: Bool { last.entries.isEmpty && full.isEmpty }
        var count: Int { full.reduce(last.entries.count) { $0 + $1.entries.count } }
        var firstNumber: SequenceNumber? { (full.first ?? last).entries.first?.number }
    }

    private var queues: [Queue] = []
    private var bounded: [ObserverID: BoundedDeliveries<Item, Waiter>] = [:]
    /// The sequence number of the next entry.
    private(set) var nextNumber: SequenceNumber = 1
    /// Empty chunks for reuse.
    private var spares: [Chunk] = []
    /// Changes whenever an item of a bounded observer is added or removed.
    private(set) var version: UInt64 = 0
    /// The number of queues that are not empty.
    private(set) var waitingQueues = 0

    /// - Returns: the new queue's index.
    mutating func addQueue() -> Int {
        queues.append(Queue())
        return queues.count - 1
    }

    func isEmpty(_ queue: Int) -> Bool { queues[queue].isEmpty }

    /// True if a queue has an entry with a smaller sequence number.
    func hasEntry(before number: SequenceNumber, in queue: Int) -> Bool {
        queues[queue].firstNumber.map { $0 < number } ?? false
    }

    /// Appends an item to a queue.
    /// - Returns: whether the queue must be signalled.
    @inline(__always)
    mutating func append(_ item: consuming Item, to queue: Int) -> Bool {
        append(Entry(number: nextNumber, item: item), to: queue)
    }

    @inline(__always)
    private mutating func append(_ entry: consuming Entry, to queue: Int) -> Bool {
        if queues[queue].last.isFull { addChunk(to: queue) }
        nextNumber = nextNumber &+ 1
        queues[queue].last.entries.append(entry)
        let count = queues[queue].last.entries.count
        queues[queue].last.prefetchEntry(at: count + Chunk.prefetched)
        guard count == 1, queues[queue].full.isEmpty else { return false }
        waitingQueues += 1
        return true
    }

    @inline(never)
    private mutating func addChunk(to queue: Int) {
        var chunk = spares.popLast() ?? Chunk.next
        swap(&chunk, &queues[queue].last)
        queues[queue].full.append(chunk)
        queues[queue].lastChunk += 1
    }

    /// The number of a queue's last chunk; never reused.
    @inline(__always)
    func lastChunk(of queue: Int) -> UInt64 { queues[queue].lastChunk }

    /// Retains `object` until the last chunk of the queue has been delivered.
    mutating func retain(_ object: AnyObject, in queue: Int) {
        queues[queue].last.retain(object)
    }

    /// Reserves sequence numbers for entries that are not appended here.
    /// - Returns: the first of them.
    mutating func reserveNumbers(_ count: Int) -> SequenceNumber {
        defer { nextNumber += SequenceNumber(count) }
        return nextNumber
    }

    /// Appends an item of a bounded observer, if its policy allows.
    ///
    /// - Parameters:
    ///   - replacing: for the policy `keepLatest`, the waiting item to replace.
    ///   - waiter: waits if there is no room; nil if the caller cannot wait.
    ///   - isRetained: whether the item is older than all that were appended before for the observer.
    mutating func append(
        _ item: Item, to queue: Int, observer: ObserverID, policy: OverflowPolicy, replacing: SequenceNumber? = nil,
        hash: Int? = nil, waiter: Waiter? = nil, isRetained: Bool = false
    ) -> BoundedResult {
        if isRetained, bounded[observer] != nil { return .obsolete }
        let decision = bounded[observer, default: BoundedDeliveries()].makeRoom(
            policy: policy, replacing: replacing, waiter: waiter)
        switch decision {
        case .refuse: return .refused
        case .wait: return .wait
        case .room(let displaced):
            version += 1
            bounded[observer, default: BoundedDeliveries()].hold(item, number: nextNumber, hash: hash, policy: policy)
            if let displaced { entryWasDropped(displaced.number, in: queue) }
            let mustSignal = append(Entry(number: nextNumber, heldBy: observer), to: queue)
            return .appended(mustSignal: mustSignal, displaced: displaced?.item)
        }
    }

    /// The waiting items of an observer that have a key with this hash. The result is valid while `version` stays the
    /// same.
    func candidates(observer: ObserverID, hash: Int) -> [(SequenceNumber, Item)] {
        bounded[observer]?.candidates(hash: hash) ?? []
    }

    /// Takes the item of a bounded observer's entry.
    /// - Returns: the item, nil if it was dropped; and the waiter that may use its room.
    mutating func takeHeld(by observer: ObserverID, number: SequenceNumber) -> (item: Item?, waiter: Waiter?) {
        guard let index = bounded.index(forKey: observer) else { return (nil, nil) }
        version += 1
        let taken = bounded.values[index].take(number)
        if bounded.values[index].isUnused { bounded.remove(at: index) }
        return taken
    }

    mutating func removeWaiters(of observer: ObserverID) -> [Waiter] {
        guard let index = bounded.index(forKey: observer) else { return [] }
        defer { if bounded.values[index].isUnused { bounded.remove(at: index) } }
        return bounded.values[index].removeWaiters()
    }

    /// - Returns: false if the waiter was removed before, because there is room or never will be.
    mutating func removeWaiter(_ waiter: Waiter, of observer: ObserverID) -> Bool {
        guard let index = bounded.index(forKey: observer) else { return false }
        defer { if bounded.values[index].isUnused { bounded.remove(at: index) } }
        return bounded.values[index].removeWaiter(waiter)
    }

    /// Moves the entries of a queue to the end of a list, oldest first.
    mutating func takeAll(of queue: Int, into chunks: inout [Chunk]) {
        guard !queues[queue].isEmpty else { return }
        waitingQueues -= 1
        if chunks.isEmpty {
            swap(&chunks, &queues[queue].full)
        } else {
            chunks.append(contentsOf: queues[queue].full)
            queues[queue].full.removeAll()
        }
        var last = spares.popLast() ?? Chunk()
        swap(&last, &queues[queue].last)
        if !last.entries.isEmpty { chunks.append(last) }
        queues[queue].lastChunk += 1
        queues[queue].dropped = 0
    }

    /// Exchanges the spare chunks for a longer list of empty chunks. It takes constant time, because posting threads
    /// wait meanwhile.
    mutating func reuse(_ chunks: inout [Chunk]) {
        if chunks.count > spares.count { swap(&chunks, &spares) }
    }

    /// Empties all queues.
    /// - Returns: the items in order, the waiters, and the chunks that retain what the items use.
    mutating func removeAll() -> (items: [Item], waiters: [Waiter], chunks: [Chunk]) {
        var items: [(number: SequenceNumber, item: Item)] = []
        var chunks: [Chunk] = []
        for queue in queues.indices {
            for chunk in queues[queue].full + [queues[queue].last] {
                chunks.append(chunk)
                for entry in chunk.entries {
                    if case .item(let item) = entry.content { items.append((entry.number, item)) }
                }
            }
            queues[queue] = Queue(lastChunk: queues[queue].lastChunk + 1)
        }
        waitingQueues = 0
        spares = []
        var waiters: [Waiter] = []
        for var held in bounded.values {
            items += held.waiting
            waiters += held.removeWaiters()
        }
        bounded = [:]
        return (items.sorted { $0.number < $1.number }.map(\.item), waiters, chunks)
    }

    /// An entry's item was dropped. When half of a queue's entries have no item, they are removed, so that a queue that
    /// is never drained does not grow.
    private mutating func entryWasDropped(_ number: SequenceNumber, in queue: Int) {
        guard let first = queues[queue].firstNumber, first <= number else { return }
        queues[queue].dropped += 1
        guard queues[queue].dropped > 32, queues[queue].dropped * 2 > queues[queue].count else { return }
        func hasNoItem(_ entry: Entry) -> Bool {
            guard case .held(let observer) = entry.content else { return false }
            return bounded[observer]?.holds(entry.number) != true
        }
        for index in queues[queue].full.indices { queues[queue].full[index].entries.removeAll(where: hasNoItem) }
        queues[queue].full.removeAll { $0.entries.isEmpty && $0.owners.isEmpty }
        queues[queue].last.entries.removeAll(where: hasNoItem)
        if queues[queue].isEmpty { waitingQueues -= 1 }
        queues[queue].dropped = 0
    }
}

/// An item of `PendingDeliveries`.
protocol PendingItem {
    /// Fills an entry that has no item.
    static var nothing: Self { get }
}
