internal import Foundation

/// What the posting queues of one thread hold, first in, first out for each posting style, as a pure value.
///
/// It has no lock, thread, clock or run loop; its owner has them and does what is answered. There is a lane for each set of
/// run loop modes. Queues share it, so that order holds over all of them; only what is of one queue is similar.
///
///     enqueue ─► removes what is similar ─► waits ─► takeFirst ─► posted
///                                             └► coalesced, dequeued, or removed with all
///
/// Cost: constant for each operation, on average, however much waits: what is similar is found by name, by sender and by
/// both, and taken out of the middle. What is removed is handed out, for its owner to let go of without a lock.
struct CoalescingBuffer<Item> {
    typealias Place = UInt64
    typealias Style = NotificationQueue.PostingStyle
    typealias Mask = NotificationQueue.NotificationCoalescing

    /// Who sends, as it is compared.
    enum Sender: Hashable {
        case none
        case object(ObjectIdentifier)
        /// A value that `SenderTable` has numbered.
        case value(UInt64)
        /// Similar to nothing, not even to itself.
        case incomparable
    }

    /// By what one notification is similar to another.
    struct Key: Hashable {
        var queue: UInt64
        var name: Notification.Name
        var sender: Sender
    }

    /// What became of something enqueued, and what is to be let go of.
    struct Enqueued {
        /// Its place; nil: the earliest of those that are similar is kept instead.
        var place: Place?
        /// Where the one waits that is kept.
        var lane: Int
        /// Coalesced into it, or with it into the one that is kept.
        var coalesced: [Item] = []
        /// Nothing of its style and lane waited before, so the run loop may be asleep.
        var mustWake = false
    }

    private struct Entry {
        var place: Place
        var key: Key
        var style: Style
        var lane: Int
        var item: Item
    }

    private struct SenderKey: Hashable {
        var queue: UInt64
        var sender: Sender
    }

    private struct NameKey: Hashable {
        var queue: UInt64
        var name: Notification.Name
    }

    private struct Order: Hashable {
        var style: Style
        var lane: Int
    }

    private var entries: [Entry?] = []
    private var freeSlots: [Int] = []
    private var orders: [Order: SlotLinks.Chain] = [:]
    private var named: [NameKey: SlotLinks.Chain] = [:]
    private var sent: [SenderKey: SlotLinks.Chain] = [:]
    private var alike: [Key: SlotLinks.Chain] = [:]
    private var orderLinks = SlotLinks()
    private var nameLinks = SlotLinks()
    private var senderLinks = SlotLinks()
    private var alikeLinks = SlotLinks()
    /// How many wait in each lane: for an idle run loop, and for none.
    private var counts: [(idle: Int, due: Int)] = []

    /// The place that the next one gets. Places are never used again.
    private(set) var nextPlace: Place = 1

    var count: Int { entries.count - freeSlots.count }
    var isEmpty: Bool { count == 0 }

    func isEmpty(_ style: Style, lane: Int) -> Bool { orders[Order(style: style, lane: lane)] == nil }

    func isEmpty(_ style: Style, lanes: [Int]) -> Bool { lanes.allSatisfy { isEmpty(style, lane: $0) } }

    /// Whether something waits in a lane for an idle run loop, and for none.
    func isWaiting(lane: Int) -> (idle: Bool, due: Bool) {
        lane < counts.count ? (counts[lane].idle > 0, counts[lane].due > 0) : (false, false)
    }

    /// Adds to the end, after removing what is similar.
    ///
    /// - Parameters:
    ///   - mask: what makes two similar; empty: nothing.
    ///   - keepsEarliest: whether the one that is kept is the earliest, in its place, instead of this one.
    mutating func enqueue(
        _ item: Item, _ key: Key, style: Style, lane: Int, mask: Mask, keepsEarliest: Bool
    ) -> Enqueued {
        var enqueued = Enqueued(lane: lane)
        if keepsEarliest, let earliest = similar(to: key, mask)?.first {
            enqueued.lane = entries[earliest]?.lane ?? lane
            enqueued.coalesced = removeSimilar(to: key, mask, but: earliest)
            enqueued.coalesced.append(item)
            return enqueued
        }
        enqueued.coalesced = removeSimilar(to: key, mask)
        enqueued.mustWake = orders[Order(style: style, lane: lane)] == nil
        enqueued.place = nextPlace
        insert(Entry(place: nextPlace, key: key, style: style, lane: lane, item: item))
        nextPlace += 1
        return enqueued
    }

    /// Takes out all that is similar.
    mutating func dequeue(matching key: Key, _ mask: Mask) -> [Item] {
        removeSimilar(to: key, mask)
    }

    /// Takes out the first of a style that waits in one of these lanes, if its place is before this one.
    mutating func takeFirst(_ style: Style, lanes: [Int], before end: Place = .max) -> Item? {
        var first: (slot: Int, place: Place)?
        for lane in lanes {
            guard let slot = orders[Order(style: style, lane: lane)]?.first, let place = entries[slot]?.place,
                place < end, first.map({ place < $0.place }) ?? true
            else { continue }
            first = (slot, place)
        }
        return first.flatMap { remove($0.slot) }
    }

    /// Empties it.
    /// - Returns: what waited, in the order in which it was enqueued.
    mutating func removeAll() -> [Item] {
        let waiting = entries.compactMap(\.self).sorted { $0.place < $1.place }.map(\.item)
        startAnew()
        return waiting
    }

    /// Lets go of its storage; places go on.
    private mutating func startAnew() {
        let next = nextPlace
        self = CoalescingBuffer()
        nextPlace = next
    }

    // MARK: Similar ones

    private func similar(to key: Key, _ mask: Mask) -> SlotLinks.Chain? {
        switch (mask.contains(.onName), mask.contains(.onSender)) {
        case (false, false): nil
        case (true, false): named[NameKey(queue: key.queue, name: key.name)]
        case (false, true) where key.sender == .incomparable, (true, true) where key.sender == .incomparable: nil
        case (false, true): sent[SenderKey(queue: key.queue, sender: key.sender)]
        case (true, true): alike[key]
        }
    }

    private mutating func removeSimilar(to key: Key, _ mask: Mask, but kept: Int? = nil) -> [Item] {
        guard let chain = similar(to: key, mask) else { return [] }
        var removed: [Item] = []
        var next = chain.first
        while let slot = next {
            next = following(slot, mask)
            if slot != kept, let item = remove(slot) { removed.append(item) }
        }
        return removed
    }

    private func following(_ slot: Int, _ mask: Mask) -> Int? {
        switch (mask.contains(.onName), mask.contains(.onSender)) {
        case (true, true): alikeLinks.next(after: slot)
        case (true, false): nameLinks.next(after: slot)
        default: senderLinks.next(after: slot)
        }
    }

    // MARK: Slots

    private mutating func insert(_ entry: Entry) {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            entries[slot] = entry
        } else {
            slot = entries.count
            entries.append(entry)
        }
        while counts.count <= entry.lane { counts.append((0, 0)) }
        count(entry, 1)
        let key = entry.key
        orderLinks.append(slot, to: &orders[Order(style: entry.style, lane: entry.lane), default: .init()])
        nameLinks.append(slot, to: &named[NameKey(queue: key.queue, name: key.name), default: .init()])
        guard key.sender != .incomparable else { return }
        senderLinks.append(slot, to: &sent[SenderKey(queue: key.queue, sender: key.sender), default: .init()])
        alikeLinks.append(slot, to: &alike[key, default: .init()])
    }

    private mutating func count(_ entry: Entry, _ change: Int) {
        if entry.style == .whenIdle { counts[entry.lane].idle += change } else { counts[entry.lane].due += change }
    }

    private mutating func remove(_ slot: Int) -> Item? {
        guard let entry = entries[slot] else { return nil }
        entries[slot] = nil
        freeSlots.append(slot)
        count(entry, -1)
        let key = entry.key
        Self.unlink(slot, &orderLinks, &orders, Order(style: entry.style, lane: entry.lane))
        Self.unlink(slot, &nameLinks, &named, NameKey(queue: key.queue, name: key.name))
        if key.sender != .incomparable {
            Self.unlink(slot, &senderLinks, &sent, SenderKey(queue: key.queue, sender: key.sender))
            Self.unlink(slot, &alikeLinks, &alike, key)
        }
        // A burst that is over need not be paid for in memory for ever.
        if isEmpty, entries.count > 4096 { startAnew() }
        return entry.item
    }

    private static func unlink<Name: Hashable>(
        _ slot: Int, _ links: inout SlotLinks, _ chains: inout [Name: SlotLinks.Chain], _ name: Name
    ) {
        guard let index = chains.index(forKey: name) else { return }
        links.remove(slot, from: &chains.values[index])
        if chains.values[index].isEmpty { chains.remove(at: index) }
    }
}

extension CoalescingBuffer.Enqueued: Sendable where Item: Sendable {}
