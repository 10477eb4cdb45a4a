import SharedTesting
import XCTest

@testable import ThreadedNotifications

/// A mailbox's pure values, compared with a plain array that does the same. It throws where they differ.
struct ComparedMailbox {
    final class Waiter {}

    struct Item: Hashable, PendingItem {
        static let nothing = Item(number: 0)

        var number: Int
        var observer: ObserverID?
        /// Compared by the policy `keepLatest`. Keys below 10 have one of two hashes.
        var key = 0
        var hash: Int { key < 10 ? key % 2 : key }
    }

    struct Observer: Hashable {
        var id: ObserverID
        var queue: Int
        var policy: OverflowPolicy
    }

    /// An element of the plain array.
    private struct WaitingItem {
        var item: Item
        var queue: Int
        /// A drain has taken it.
        var isTaken = false
    }

    /// The number of appended items, and of each outcome.
    struct Outcomes: Equatable {
        var appended = 0
        var delivered = 0
        var displaced = 0
        var refused = 0
        var removed = 0
    }

    private typealias Pending = PendingDeliveries<Item, Waiter>

    private var pending = Pending()
    private var taken = TakenDeliveries<Item, Waiter>()
    private let observers: [ObserverID: Observer]
    private let queues: Range<Int>

    private var waiting: [WaitingItem] = []
    private var waiters: [ObserverID: [Waiter]] = [:]
    /// For each queue: it was signalled after it was last emptied.
    private var isSignalled: [Bool]
    private(set) var outcomes = Outcomes()

    init(queues count: Int, observers: [Observer] = []) {
        for queue in 0..<count {
            let index = pending.addQueue()
            XCTAssertEqual(index, queue)
        }
        queues = 0..<count
        isSignalled = Array(repeating: false, count: count)
        self.observers = Dictionary(uniqueKeysWithValues: observers.map { ($0.id, $0) })
    }

    /// The number of waiting items of an observer.
    func count(of observer: ObserverID) -> Int { waiting.count { $0.item.observer == observer } }

    func waiters(of observer: ObserverID) -> [Waiter] { waiters[observer] ?? [] }

    // MARK: Appending

    mutating func append(queue: Int) throws {
        outcomes.appended += 1
        let item = Item(number: outcomes.appended)
        let wasEmpty = !waits(in: queue)
        let mustSignal = pending.append(item, to: queue)
        try require(mustSignal == wasEmpty)
        waiting.append(WaitingItem(item: item, queue: queue))
        isSignalled[queue] = isSignalled[queue] || mustSignal
    }

    /// - Parameter waits: whether it waits for room if the policy allows it.
    mutating func append(for id: ObserverID, key: Int, waits: Bool) throws {
        outcomes.appended += 1
        let observer = try XCTUnwrap(observers[id])
        let item = Item(number: outcomes.appended, observer: id, key: key)
        let waiter = waits ? Waiter() : nil
        let hash = observer.policy == .keepLatest ? item.hash : nil
        let replacing = try hash.flatMap { hash in
            let candidates = pending.candidates(observer: id, hash: hash)
            let same = waiting.map(\.item).filter { $0.observer == id && $0.hash == hash }
            try require(Set(candidates.map(\.1)) == Set(same) && candidates.count == same.count)
            return candidates.first { $0.1.key == key }?.0
        }
        let outcome = pending.append(
            item, to: observer.queue, observer: id, policy: observer.policy, replacing: replacing, hash: hash,
            waiter: waiter)
        switch (outcome, expectedDecision(observer, item)) {
        case (.appended(let mustSignal, let displaced), .room(let expectedDisplaced)):
            try require(displaced == expectedDisplaced)
            if displaced != nil { outcomes.displaced += 1 }
            waiting.removeAll { $0.item == displaced }
            if mustSignal { try require(!self.waits(in: observer.queue)) }
            waiting.append(WaitingItem(item: item, queue: observer.queue))
            isSignalled[observer.queue] = isSignalled[observer.queue] || mustSignal
        case (.refused, .refuse):
            outcomes.refused += 1
        case (_, let decision):
            XCTFail("\(observer) answers \(outcome) instead of \(decision)")
            throw Difference()
        }
        if let capacity = observer.policy.capacity { try require(count(of: id) <= capacity) }
    }

    private struct Difference: Error {}

    private enum Decision {
        case room(displaced: Item?)
        case refuse
    }

    private func expectedDecision(_ observer: Observer, _ item: Item) -> Decision {
        let own = waiting.map(\.item).filter { $0.observer == observer.id }
        let isFull = observer.policy.capacity.map { own.count >= $0 } ?? false
        switch observer.policy.rule {
        case .unbounded: return .room(displaced: nil)
        case .dropOldest: return .room(displaced: isFull ? own.first : nil)
        case .keepLatest: return .room(displaced: own.first { $0.key == item.key })
        case .dropNewest, .refuse: return isFull ? .refuse : .room(displaced: nil)
        }
    }

    /// The observer is removed: its waiters are returned, oldest first.
    mutating func removeWaiters(of id: ObserverID) throws {
        let removed = pending.removeWaiters(of: id)
        try require(removed.elementsEqual(waiters(of: id)) { $0 === $1 })
        waiters[id] = nil
    }

    mutating func removeWaiter(_ waiter: Waiter, of id: ObserverID) {
        let wasWaiting = pending.removeWaiter(waiter, of: id)
        XCTAssertEqual(wasWaiting, waiters(of: id).contains { $0 === waiter })
        waiters[id]?.removeAll { $0 === waiter }
    }

    // MARK: Draining

    /// Takes what is pending in a queue, as at the beginning of a drain.
    mutating func take(queue: Int) throws {
        var count = 0
        taken.releaseExhausted()
        taken.handOutEmpty { pending.reuse(&$0) }
        taken.take(queue) { chunks in
            let before = chunks.reduce(0) { $0 + $1.entries.count }
            pending.takeAll(of: queue, into: &chunks)
            count = chunks.reduce(-before) { $0 + $1.entries.count }
        }
        try require(count >= waiting.count { $0.queue == queue && !$0.isTaken })
        for index in waiting.indices where waiting[index].queue == queue { waiting[index].isTaken = true }
        isSignalled[queue] = false
        try require(pending.isEmpty(queue))
    }

    /// Delivers the next taken item of these queues.
    /// - Returns: whether there was one.
    @discardableResult
    mutating func deliverFirst(of queues: [Int]) throws -> Bool {
        let expected = waiting.firstIndex { $0.isTaken && queues.contains($0.queue) }.map {
            waiting.remove(at: $0).item
        }
        var delivered: Item?
        while delivered == nil, let entry = taken.takeFirst(of: queues) {
            switch entry.content {
            case .item(let item): delivered = item
            case .held(let observer):
                let waiter: Waiter?
                (delivered, waiter) = pending.takeHeld(by: observer, number: entry.number)
                let first = delivered == nil ? nil : waiters[observer]?.first
                try require(waiter === first)
                if first != nil { waiters[observer]?.removeFirst() }
            case .taken:
                XCTFail("an entry was taken twice")
            }
        }
        try require(delivered == expected)
        if delivered != nil { outcomes.delivered += 1 }
        return delivered != nil
    }

    /// The thread ends.
    mutating func removeAll() throws {
        let (items, waiters, _) = pending.removeAll()
        try require(items == waiting.filter { !$0.isTaken || $0.item.observer != nil }.map(\.item))
        let expected = self.waiters.values.joined()
        try require(waiters.count == expected.count)
        try require(Set(waiters.map(ObjectIdentifier.init)) == Set(expected.map(ObjectIdentifier.init)))
        var inTaken: [Item] = []
        for entry in taken.removeAll().flatMap(\.entries) {
            if case .item(let item) = entry.content { inTaken.append(item) }
        }
        for queue in queues {
            let expected = waiting.filter { $0.isTaken && $0.queue == queue && $0.item.observer == nil }.map(\.item)
            try require(inTaken.filter(Set(expected).contains) == expected)
        }
        outcomes.removed += items.count + inTaken.count
        waiting = []
        self.waiters = [:]
        try checkEmpty()
    }

    private func checkEmpty() throws {
        for queue in queues { try require(pending.isEmpty(queue) && taken.isEmpty(queue)) }
        var copy = pending
        let (items, waiters, _) = copy.removeAll()
        try require(items.isEmpty && waiters.isEmpty)
    }

    // MARK: Invariants

    func check() throws {
        for queue in queues {
            let inQueue = waiting.filter { $0.queue == queue }
            if inQueue.contains(where: { !$0.isTaken }) {
                try require(!pending.isEmpty(queue))
                try require(isSignalled[queue], "queue \(queue) is not empty and was not signalled")
            }
            if inQueue.contains(where: \.isTaken) { try require(!taken.isEmpty(queue)) }
            // Entries of dropped items are removed now and then, so that a queue that is never drained stays short.
            var (copy, chunks) = (pending, [Pending.Chunk]())
            copy.takeAll(of: queue, into: &chunks)
            try require(chunks.flatMap(\.entries).count <= 2 * inQueue.count + 34)
        }
        // The waiting items equal those of the plain array, so the capacities hold.
        var copy = pending
        let items = copy.removeAll().items
        try require(items == waiting.filter { !$0.isTaken || $0.item.observer != nil }.map(\.item))
    }

    /// Only if no observer is bounded, because dropped items are still counted.
    func checkHasMoreThanOne(in queues: [Int]) throws {
        let count = waiting.count { $0.isTaken && queues.contains($0.queue) }
        try require(taken.hasMoreThanOne(in: queues) == (count > 1))
        for queue in queues {
            try require(taken.isEmpty(queue) == !waiting.contains { $0.isTaken && $0.queue == queue })
        }
    }

    /// The number of elements in all its collections.
    var elements: Int { storedElements(of: pending) + storedElements(of: taken) }

    private func waits(in queue: Int) -> Bool { waiting.contains { $0.queue == queue && !$0.isTaken } }
}

extension TakenDeliveries {
    /// Releases the objects of exhausted chunks, as the mailbox does after a delivery.
    mutating func releaseExhausted() {
        while var chunk = takeExhausted(in: 0) {
            chunk.removeAll()
            reuse(&chunk)
        }
    }

    /// Takes the entry with the smallest sequence number in these queues, as a drain does.
    mutating func takeFirst(of queues: [Int]) -> Entry? {
        guard let queue = firstQueue(of: queues) else { return nil }
        return takeFirst(of: queue)
    }
}

extension Int: PendingItem {
    static let nothing = Int.min
}
