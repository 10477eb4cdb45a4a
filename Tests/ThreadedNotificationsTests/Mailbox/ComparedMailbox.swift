import Testing

@testable import ThreadedNotifications

/// A mailbox's pure values and a plain array that does the same naively, driven together; it throws where they differ.
struct ComparedMailbox {
    final class Waiter {}

    struct Item: Hashable, PendingItem {
        static let nothing = Item(number: 0)

        var number: Int
        var observer: ObserverID?
        /// What the policy that keeps the latest compares. Small keys share two hashes.
        var key = 0
        var hash: Int { key < 10 ? key % 2 : key }
    }

    struct Observer: Hashable {
        var id: ObserverID
        var lane: Int
        var policy: OverflowPolicy
    }

    /// Something in the plain array.
    private struct Waiting {
        var item: Item
        var lane: Int
        /// A drain has taken it.
        var isTaken = false
    }

    /// What became of what was appended.
    struct Fates: Equatable {
        var appended = 0
        var delivered = 0
        var displaced = 0
        var refused = 0
        var told = 0
    }

    private typealias Pending = PendingDeliveries<Item, Waiter>

    private var pending = Pending()
    private var taken = TakenDeliveries<Item, Waiter>()
    private let observers: [ObserverID: Observer]
    private let lanes: Range<Int>

    private var waiting: [Waiting] = []
    private var waiters: [ObserverID: [Waiter]] = [:]
    /// Whether each lane was signalled after it was last emptied.
    private var isSignalled: [Bool]
    private(set) var fates = Fates()

    init(lanes count: Int, observers: [Observer] = []) {
        for lane in 0..<count { #expect(pending.addQueue() == lane) }
        lanes = 0..<count
        isSignalled = Array(repeating: false, count: count)
        self.observers = Dictionary(uniqueKeysWithValues: observers.map { ($0.id, $0) })
    }

    /// How many of this observer wait.
    func count(of observer: ObserverID) -> Int { waiting.count { $0.item.observer == observer } }

    func waiters(of observer: ObserverID) -> [Waiter] { waiters[observer] ?? [] }

    // MARK: Handing over

    mutating func append(lane: Int) throws {
        fates.appended += 1
        let item = Item(number: fates.appended)
        let wasEmpty = !waits(in: lane)
        let mustSignal = pending.append(item, to: lane)
        try #require(mustSignal == wasEmpty)
        waiting.append(Waiting(item: item, lane: lane))
        isSignalled[lane] = isSignalled[lane] || mustSignal
    }

    /// - Parameter waits: whether it waits if its policy has it do so.
    mutating func append(for id: ObserverID, key: Int, waits: Bool) throws {
        fates.appended += 1
        let observer = try #require(observers[id])
        let item = Item(number: fates.appended, observer: id, key: key)
        let waiter = waits ? Waiter() : nil
        let hash = observer.policy == .keepLatest ? item.hash : nil
        let replacing = try hash.flatMap { hash in
            let candidates = pending.candidates(observer: id, hash: hash)
            let same = waiting.map(\.item).filter { $0.observer == id && $0.hash == hash }
            try #require(Set(candidates.map(\.1)) == Set(same) && candidates.count == same.count)
            return candidates.first { $0.1.key == key }?.0
        }
        let outcome = pending.append(
            item, to: observer.lane, observer: id, policy: observer.policy, replacing: replacing, hash: hash,
            waiter: waiter)
        switch (outcome, naiveDecision(observer, item, waiter)) {
        case (.appended(let mustSignal, let displaced), .room(let naivelyDisplaced)):
            try #require(displaced == naivelyDisplaced)
            if displaced != nil { fates.displaced += 1 }
            waiting.removeAll { $0.item == displaced }
            if mustSignal { try #require(!self.waits(in: observer.lane)) }
            waiting.append(Waiting(item: item, lane: observer.lane))
            isSignalled[observer.lane] = isSignalled[observer.lane] || mustSignal
        case (.refused, .refuse), (.wait, .wait):
            // Who waits tries again later, with another item.
            fates.refused += 1
        case (_, let decision):
            Issue.record("\(observer) answers \(outcome) instead of \(decision)")
            throw Difference()
        }
        if let capacity = observer.policy.capacity { try #require(count(of: id) <= capacity) }
    }

    private struct Difference: Error {}

    private enum Decision {
        case room(displaced: Item?)
        case refuse
        case wait
    }

    private mutating func naiveDecision(_ observer: Observer, _ item: Item, _ waiter: Waiter?) -> Decision {
        let own = waiting.map(\.item).filter { $0.observer == observer.id }
        let isFull = observer.policy.capacity.map { own.count >= $0 } ?? false
        switch observer.policy {
        case .unbounded: return .room(displaced: nil)
        case .dropOldest: return .room(displaced: isFull ? own.first : nil)
        case .keepLatest: return .room(displaced: own.first { $0.key == item.key })
        case .dropNewest, .refuse: return isFull ? .refuse : .room(displaced: nil)
        case .block:
            guard isFull else { return .room(displaced: nil) }
            guard let waiter else { return .refuse }
            waiters[observer.id, default: []].append(waiter)
            return .wait
        }
    }

    /// What was cancelled: those who wait for room are handed out, first come first.
    mutating func removeWaiters(of id: ObserverID) throws {
        let removed = pending.removeWaiters(of: id)
        try #require(removed.elementsEqual(waiters(of: id)) { $0 === $1 })
        waiters[id] = nil
    }

    mutating func giveUp(_ waiter: Waiter, of id: ObserverID) {
        let waitedStill = pending.removeWaiter(waiter, of: id)
        #expect(waitedStill == waiters(of: id).contains { $0 === waiter })
        waiters[id]?.removeAll { $0 === waiter }
    }

    // MARK: Draining

    /// What a drain begins with.
    mutating func take(lane: Int) throws {
        var count = 0
        taken.letGo()
        taken.handOutEmpty { pending.reuse(&$0) }
        taken.take(lane) { chunks in
            let before = chunks.reduce(0) { $0 + $1.entries.count }
            pending.takeAll(of: lane, into: &chunks)
            count = chunks.reduce(-before) { $0 + $1.entries.count }
        }
        try #require(count >= waiting.count { $0.lane == lane && !$0.isTaken })
        for index in waiting.indices where waiting[index].lane == lane { waiting[index].isTaken = true }
        isSignalled[lane] = false
        try #require(pending.isEmpty(lane))
    }

    /// What a drain goes on with.
    /// - Returns: whether there was something.
    @discardableResult
    mutating func deliverFirst(of lanes: [Int]) throws -> Bool {
        let expected = waiting.firstIndex { $0.isTaken && lanes.contains($0.lane) }.map { waiting.remove(at: $0).item }
        var delivered: Item?
        while delivered == nil, let entry = taken.takeFirst(of: lanes) {
            switch entry.content {
            case .item(let item): delivered = item
            case .held(let observer):
                let waiter: Waiter?
                (delivered, waiter) = pending.takeHeld(by: observer, number: entry.number)
                let first = delivered == nil ? nil : waiters[observer]?.first
                try #require(waiter === first)
                if first != nil { waiters[observer]?.removeFirst() }
            case .taken:
                Issue.record("an entry was handed out twice")
            }
        }
        try #require(delivered == expected)
        if delivered != nil { fates.delivered += 1 }
        return delivered != nil
    }

    /// The thread ends.
    mutating func removeAll() throws {
        let (items, waiters, _) = pending.removeAll()
        try #require(items == waiting.filter { !$0.isTaken || $0.item.observer != nil }.map(\.item))
        let naive = self.waiters.values.joined()
        try #require(waiters.count == naive.count)
        try #require(Set(waiters.map(ObjectIdentifier.init)) == Set(naive.map(ObjectIdentifier.init)))
        var inTaken: [Item] = []
        for entry in taken.removeAll().flatMap(\.entries) {
            if case .item(let item) = entry.content { inTaken.append(item) }
        }
        for lane in lanes {
            let expected = waiting.filter { $0.isTaken && $0.lane == lane && $0.item.observer == nil }.map(\.item)
            try #require(inTaken.filter(Set(expected).contains) == expected)
        }
        fates.told += items.count + inTaken.count
        waiting = []
        self.waiters = [:]
        try checkEmpty()
    }

    private func checkEmpty() throws {
        for lane in lanes { try #require(pending.isEmpty(lane) && taken.isEmpty(lane)) }
        var copy = pending
        let (items, waiters, _) = copy.removeAll()
        try #require(items.isEmpty && waiters.isEmpty)
    }

    // MARK: What holds at any time

    func check() throws {
        for lane in lanes {
            let live = waiting.filter { $0.lane == lane }
            if live.contains(where: { !$0.isTaken }) {
                try #require(!pending.isEmpty(lane))
                try #require(isSignalled[lane], "lane \(lane) waits without having been signalled")
            }
            if live.contains(where: \.isTaken) { try #require(!taken.isEmpty(lane)) }
            // A lane that is never drained stays short: what was dropped goes from it.
            var (copy, chunks) = (pending, [Pending.Chunk]())
            copy.takeAll(of: lane, into: &chunks)
            try #require(chunks.flatMap(\.entries).count <= 2 * live.count + 34)
        }
        // Nothing more waits than the plain array has; in particular no more than anybody's capacity.
        var copy = pending
        let items = copy.removeAll().items
        try #require(items == waiting.filter { !$0.isTaken || $0.item.observer != nil }.map(\.item))
    }

    /// Only where no observer is bounded: what was dropped is still counted by it.
    func checkHasMoreThanOne(in lanes: [Int]) throws {
        let count = waiting.count { $0.isTaken && lanes.contains($0.lane) }
        try #require(taken.hasMoreThanOne(in: lanes) == (count > 1))
        for lane in lanes {
            try #require(taken.isEmpty(lane) == !waiting.contains { $0.isTaken && $0.lane == lane })
        }
    }

    /// How many elements all collections in it hold, whatever they are for.
    var elements: Int {
        func count(_ any: Any) -> Int {
            let mirror = Mirror(reflecting: any)
            let own = [.collection, .dictionary, .set].contains(mirror.displayStyle) ? mirror.children.count : 0
            return mirror.children.reduce(own) { $0 + count($1.value) }
        }
        return count(pending) + count(taken)
    }

    private func waits(in lane: Int) -> Bool { waiting.contains { $0.lane == lane && !$0.isTaken } }
}

extension TakenDeliveries {
    /// Lets go of all that exhausted chunks keep, as the mailbox does after what it delivered last.
    mutating func letGo() {
        while var chunk = takeExhausted(in: 0) {
            chunk.removeAll()
            reuse(&chunk)
        }
    }

    /// Takes the entry with the first place of all in these lanes, as a drain does.
    mutating func takeFirst(of lanes: [Int]) -> Entry? {
        guard let lane = firstQueue(of: lanes) else { return nil }
        return takeFirst(of: lane)
    }
}

extension Int: PendingItem {
    static let nothing = Int.min
}
