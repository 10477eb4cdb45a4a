internal import Foundation

/// The notifications that wait in the posting queues of one thread, first in, first out for each posting style. A pure
/// value.
///
/// The owner supplies lock, thread and run loop, and acts on the results. The buffer has a mode queue for each set of
/// run loop modes. The posting queues share the buffer, so that their order is common; only notifications of the same
/// posting queue are similar.
///
///     enqueue ─► removes similar ones ─► waits ─► takeFirst ─► posted
///                                          └► coalesced, dequeued, or removed with all others
///
/// Cost: constant on average for each operation, because items are removed from the middle, and similar ones are found
/// in a dictionary for each coalescing mask. A mask that is not used costs nothing; its first use indexes what waits.
/// Removed items are returned, so that the owner can release them without a lock.
struct CoalescingBuffer<Item> {
    typealias SequenceNumber = UInt64
    typealias Style = NotificationQueue.PostingStyle
    typealias Mask = NotificationQueue.NotificationCoalescing

    /// The sender of a notification, in a form that can be compared without foreign code.
    enum Sender: Hashable {
        case none
        case object(ObjectIdentifier)
        /// The number that `SenderTable` gave to a value.
        case value(UInt64)
        /// Not similar to any sender.
        case incomparable
    }

    /// The properties by which notifications are similar.
    struct Key: Hashable {
        var queue: UInt64
        var name: Notification.Name
        var sender: Sender
    }

    /// The result of enqueuing an item.
    struct Enqueued {
        /// The item's number. Nil: the earliest similar item was kept instead.
        var sequenceNumber: SequenceNumber?
        /// The mode queue in which the kept item waits.
        var modeQueue: Int
        /// The similar items that are not kept, which may include the enqueued one.
        var coalesced: [Item] = []
        /// True if no item of the style waited in the mode queue before, so that the run loop may be asleep.
        var mustWake = false
    }

    private struct Entry {
        var sequenceNumber: SequenceNumber
        var key: Key
        var style: Style
        var modeQueue: Int
        var item: Item
    }

    private var entries: [Entry?] = []
    private var freeSlots: [Int] = []
    /// The items in their order: a chain for each mode queue and style, see `chain`.
    private var chains: [SlotLinks.Chain] = []
    private var links = SlotLinks()
    /// One for each mask that was used.
    private var indexes: [SimilarItems] = []

    /// The number that the next item gets. Numbers are never used again.
    private(set) var nextSequenceNumber: SequenceNumber = 1

    var count: Int { entries.count - freeSlots.count }
    var isEmpty: Bool { count == 0 }

    func isEmpty(_ style: Style, modeQueue: Int) -> Bool { first(style, modeQueue) == nil }

    func isEmpty(_ style: Style, modeQueues: [Int]) -> Bool { modeQueues.allSatisfy { isEmpty(style, modeQueue: $0) } }

    /// Removes the similar items and adds the item to the end.
    ///
    /// - Parameters:
    ///   - mask: the properties that similar items have in common. If it is empty, no item is similar.
    ///   - keepsEarliest: whether the earliest similar item is kept, where it is, instead of this one.
    mutating func enqueue(
        _ item: Item, _ key: Key, style: Style, modeQueue: Int, mask: Mask, keepsEarliest: Bool
    ) -> Enqueued {
        var enqueued = Enqueued(modeQueue: modeQueue)
        var replaced: Int?
        if let index = index(for: mask), let earliest = indexes[index].first(similarTo: key) {
            if keepsEarliest {
                enqueued.modeQueue = entries[earliest]?.modeQueue ?? modeQueue
                enqueued.coalesced = removeSimilar(index, from: indexes[index].next(after: earliest)) + [item]
                return enqueued
            }
            if indexes[index].next(after: earliest) == nil, let old = entries[earliest], old.key == key {
                // The new item is indexed already if it takes the slot.
                replaced = earliest
                enqueued.coalesced = [old.item]
                links.remove(earliest, from: &chains[Self.chain(old.style, old.modeQueue)])
                for other in indexes.indices where other != index { indexes[other].moveToEnd(earliest, key) }
            } else {
                enqueued.coalesced = removeSimilar(index, from: earliest)
            }
        }
        enqueued.mustWake = isEmpty(style, modeQueue: modeQueue)
        enqueued.sequenceNumber = nextSequenceNumber
        let slot = replaced ?? freeSlots.popLast() ?? entries.count
        if slot == entries.count { entries.append(nil) }
        entries[slot] = Entry(
            sequenceNumber: nextSequenceNumber, key: key, style: style, modeQueue: modeQueue, item: item)
        nextSequenceNumber += 1
        let chain = Self.chain(style, modeQueue)
        while chains.count <= chain { chains.append(.init()) }
        links.append(slot, to: &chains[chain])
        if replaced == nil {
            for index in indexes.indices { indexes[index].insert(slot, key) }
        }
        return enqueued
    }

    /// Removes all similar items.
    mutating func dequeue(matching key: Key, _ mask: Mask) -> [Item] {
        index(for: mask).map { removeSimilar($0, from: indexes[$0].first(similarTo: key)) } ?? []
    }

    /// Removes the first item of a style in any of these mode queues, if its sequence number is below `end`.
    mutating func takeFirst(_ style: Style, modeQueues: [Int], before end: SequenceNumber = .max) -> Item? {
        var found: (slot: Int, sequenceNumber: SequenceNumber)?
        for modeQueue in modeQueues {
            guard let slot = first(style, modeQueue), let sequenceNumber = entries[slot]?.sequenceNumber,
                sequenceNumber < found?.sequenceNumber ?? end
            else { continue }
            found = (slot, sequenceNumber)
        }
        return found.flatMap { remove($0.slot) }
    }

    /// - Returns: the items in the order in which they were enqueued.
    mutating func removeAll() -> [Item] {
        let waiting = waiting.map(\.entry.item)
        reset()
        return waiting
    }

    /// Releases the storage. Sequence numbers continue.
    private mutating func reset() {
        let next = nextSequenceNumber
        self = CoalescingBuffer()
        nextSequenceNumber = next
    }

    /// The items in the order in which they were enqueued.
    private var waiting: [(slot: Int, entry: Entry)] {
        entries.indices.compactMap { slot in entries[slot].map { (slot, $0) } }
            .sorted { $0.1.sequenceNumber < $1.1.sequenceNumber }
    }

    // MARK: Similar items

    /// Removes the items of an index that are similar to that of the slot and come after it, and that one.
    private mutating func removeSimilar(_ index: Int, from first: Int?) -> [Item] {
        var removed: [Item] = []
        var next = first
        while let slot = next {
            next = indexes[index].next(after: slot)
            if let item = remove(slot) { removed.append(item) }
        }
        return removed
    }

    /// The index for a mask, which is made if there is none yet; nil if the mask is empty.
    private mutating func index(for mask: Mask) -> Int? {
        let mask = mask.intersection([.onName, .onSender])
        if mask.isEmpty { return nil }
        if let known = indexes.firstIndex(where: { $0.mask == mask }) { return known }
        var new = SimilarItems(mask: mask)
        for (slot, entry) in waiting { new.insert(slot, entry.key) }
        indexes.append(new)
        return indexes.count - 1
    }

    /// Finds the items that have the properties of a mask in common.
    private struct SimilarItems {
        let mask: Mask
        private var chains: [Key: SlotLinks.Chain] = [:]
        private var links = SlotLinks()

        init(mask: Mask) {
            self.mask = mask
        }

        /// The key with the properties of the mask only; nil if nothing is similar.
        private func masked(_ key: Key) -> Key? {
            var key = key
            if !mask.contains(.onName) { key.name = Notification.Name("") }
            if !mask.contains(.onSender) { key.sender = .none }
            return key.sender == .incomparable ? nil : key
        }

        func first(similarTo key: Key) -> Int? { masked(key).flatMap { chains[$0]?.first } }

        func next(after slot: Int) -> Int? { links.next(after: slot) }

        mutating func insert(_ slot: Int, _ key: Key) {
            if let key = masked(key) { links.append(slot, to: &chains[key, default: .init()]) }
        }

        mutating func remove(_ slot: Int, _ key: Key) {
            guard let key = masked(key), let index = chains.index(forKey: key) else { return }
            links.remove(slot, from: &chains.values[index])
            if chains.values[index].isEmpty { chains.remove(at: index) }
        }

        mutating func moveToEnd(_ slot: Int, _ key: Key) {
            guard let key = masked(key), let index = chains.index(forKey: key) else { return }
            links.remove(slot, from: &chains.values[index])
            links.append(slot, to: &chains.values[index])
        }
    }

    // MARK: Slots

    private static func chain(_ style: Style, _ modeQueue: Int) -> Int {
        let style =
            switch style {
            case .now: 0
            case .asap: 1
            case .whenIdle: 2
            }
        return modeQueue * 3 + style
    }

    private func first(_ style: Style, _ modeQueue: Int) -> Int? {
        let chain = Self.chain(style, modeQueue)
        return chain < chains.count ? chains[chain].first : nil
    }

    private mutating func remove(_ slot: Int) -> Item? {
        guard let entry = entries[slot].take() else { return nil }
        freeSlots.append(slot)
        links.remove(slot, from: &chains[Self.chain(entry.style, entry.modeQueue)])
        for index in indexes.indices { indexes[index].remove(slot, entry.key) }
        // Releases the memory that a burst needed.
        if isEmpty, entries.count > 4096 { reset() }
        return entry.item
    }
}

extension CoalescingBuffer.Enqueued: Sendable where Item: Sendable {}
