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
/// Cost: constant on average for each operation, because similar notifications are found by name, by sender and by
/// both, and removed from the middle. Removed items are returned, so that the owner can release them without a lock.
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

    private struct SenderKey: Hashable {
        var queue: UInt64
        var sender: Sender
    }

    private struct NameKey: Hashable {
        var queue: UInt64
        var name: Notification.Name
    }

    private struct QueueKey: Hashable {
        var style: Style
        var modeQueue: Int
    }

    private var entries: [Entry?] = []
    private var freeSlots: [Int] = []
    private var queues: [QueueKey: SlotLinks.Chain] = [:]
    private var byName: [NameKey: SlotLinks.Chain] = [:]
    private var bySender: [SenderKey: SlotLinks.Chain] = [:]
    private var byNameAndSender: [Key: SlotLinks.Chain] = [:]
    private var queueLinks = SlotLinks()
    private var nameLinks = SlotLinks()
    private var senderLinks = SlotLinks()
    private var nameAndSenderLinks = SlotLinks()
    /// How many items wait in each mode queue: `whenIdle`, and with the other styles.
    private var counts: [(idle: Int, due: Int)] = []

    /// The number that the next item gets. Numbers are never used again.
    private(set) var nextSequenceNumber: SequenceNumber = 1

    var count: Int { entries.count - freeSlots.count }
    var isEmpty: Bool { count == 0 }

    func isEmpty(_ style: Style, modeQueue: Int) -> Bool { queues[QueueKey(style: style, modeQueue: modeQueue)] == nil }

    func isEmpty(_ style: Style, modeQueues: [Int]) -> Bool { modeQueues.allSatisfy { isEmpty(style, modeQueue: $0) } }

    /// True if items wait in a mode queue `whenIdle`, and with the other styles.
    func isWaiting(modeQueue: Int) -> (idle: Bool, due: Bool) {
        modeQueue < counts.count ? (counts[modeQueue].idle > 0, counts[modeQueue].due > 0) : (false, false)
    }

    /// Removes the similar items and adds the item to the end.
    ///
    /// - Parameters:
    ///   - mask: the properties that similar items have in common. If it is empty, no item is similar.
    ///   - keepsEarliest: whether the earliest similar item is kept, where it is, instead of this one.
    mutating func enqueue(
        _ item: Item, _ key: Key, style: Style, modeQueue: Int, mask: Mask, keepsEarliest: Bool
    ) -> Enqueued {
        var enqueued = Enqueued(modeQueue: modeQueue)
        if keepsEarliest, let earliest = similar(to: key, mask)?.first {
            enqueued.modeQueue = entries[earliest]?.modeQueue ?? modeQueue
            enqueued.coalesced = removeSimilar(to: key, mask, except: earliest)
            enqueued.coalesced.append(item)
            return enqueued
        }
        enqueued.coalesced = removeSimilar(to: key, mask)
        enqueued.mustWake = queues[QueueKey(style: style, modeQueue: modeQueue)] == nil
        enqueued.sequenceNumber = nextSequenceNumber
        insert(Entry(sequenceNumber: nextSequenceNumber, key: key, style: style, modeQueue: modeQueue, item: item))
        nextSequenceNumber += 1
        return enqueued
    }

    /// Removes all similar items.
    mutating func dequeue(matching key: Key, _ mask: Mask) -> [Item] {
        removeSimilar(to: key, mask)
    }

    /// Removes the first item of a style in any of these mode queues, if its sequence number is below `end`.
    mutating func takeFirst(_ style: Style, modeQueues: [Int], before end: SequenceNumber = .max) -> Item? {
        var first: (slot: Int, sequenceNumber: SequenceNumber)?
        for modeQueue in modeQueues {
            guard let slot = queues[QueueKey(style: style, modeQueue: modeQueue)]?.first,
                let sequenceNumber = entries[slot]?.sequenceNumber, sequenceNumber < end,
                first.map({ sequenceNumber < $0.sequenceNumber }) ?? true
            else { continue }
            first = (slot, sequenceNumber)
        }
        return first.flatMap { remove($0.slot) }
    }

    /// - Returns: the items in the order in which they were enqueued.
    mutating func removeAll() -> [Item] {
        let waiting = entries.compactMap(\.self).sorted { $0.sequenceNumber < $1.sequenceNumber }.map(\.item)
        reset()
        return waiting
    }

    /// Releases the storage. Sequence numbers continue.
    private mutating func reset() {
        let next = nextSequenceNumber
        self = CoalescingBuffer()
        nextSequenceNumber = next
    }

    // MARK: Similar items

    private func similar(to key: Key, _ mask: Mask) -> SlotLinks.Chain? {
        switch (mask.contains(.onName), mask.contains(.onSender)) {
        case (false, false): nil
        case (true, false): byName[NameKey(queue: key.queue, name: key.name)]
        case (false, true) where key.sender == .incomparable, (true, true) where key.sender == .incomparable: nil
        case (false, true): bySender[SenderKey(queue: key.queue, sender: key.sender)]
        case (true, true): byNameAndSender[key]
        }
    }

    private mutating func removeSimilar(to key: Key, _ mask: Mask, except kept: Int? = nil) -> [Item] {
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
        case (true, true): nameAndSenderLinks.next(after: slot)
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
        while counts.count <= entry.modeQueue { counts.append((0, 0)) }
        count(entry, 1)
        let key = entry.key
        queueLinks.append(slot, to: &queues[QueueKey(style: entry.style, modeQueue: entry.modeQueue), default: .init()])
        nameLinks.append(slot, to: &byName[NameKey(queue: key.queue, name: key.name), default: .init()])
        guard key.sender != .incomparable else { return }
        senderLinks.append(slot, to: &bySender[SenderKey(queue: key.queue, sender: key.sender), default: .init()])
        nameAndSenderLinks.append(slot, to: &byNameAndSender[key, default: .init()])
    }

    private mutating func count(_ entry: Entry, _ change: Int) {
        if entry.style == .whenIdle {
            counts[entry.modeQueue].idle += change
        } else {
            counts[entry.modeQueue].due += change
        }
    }

    private mutating func remove(_ slot: Int) -> Item? {
        guard let entry = entries[slot] else { return nil }
        entries[slot] = nil
        freeSlots.append(slot)
        count(entry, -1)
        let key = entry.key
        Self.unlink(slot, &queueLinks, &queues, QueueKey(style: entry.style, modeQueue: entry.modeQueue))
        Self.unlink(slot, &nameLinks, &byName, NameKey(queue: key.queue, name: key.name))
        if key.sender != .incomparable {
            Self.unlink(slot, &senderLinks, &bySender, SenderKey(queue: key.queue, sender: key.sender))
            Self.unlink(slot, &nameAndSenderLinks, &byNameAndSender, key)
        }
        // Releases the memory that a burst needed.
        if isEmpty, entries.count > 4096 { reset() }
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
