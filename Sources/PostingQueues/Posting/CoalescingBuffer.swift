internal import Foundation

/// The notifications that wait in the posting queues of one thread, first in, first out for each posting style. A pure
/// value.
///
/// The owner supplies lock, thread and run loop, and acts on the results. There is a line for each set of run loop
/// modes and posting style. The posting queues share the buffer, so that their order is common; only notifications of
/// the same posting queue are similar.
///
/// Cost: constant on average for each operation. Similar items are found in a dictionary for each coalescing mask. A
/// mask that is not used costs nothing; its first use indexes what waits. Removed items are returned, so that the owner
/// can release them without a lock.
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
        /// The similar items that are not kept, which may include the enqueued one.
        var coalesced: [Item] = []
        /// True if no item of the style waited in the mode queue before, so that the run loop may be asleep.
        var mustWake = false
    }

    private struct Entry {
        var key: Key
        var line: Int
        var item: Item
    }

    /// Numbers in ascending order. That of a removed item stays until it is the first, or until most are such.
    private struct Line {
        private var numbers: [SequenceNumber] = []
        private var begin = 0
        private(set) var count = 0

        mutating func waiting(_ entries: [SequenceNumber: Entry]) -> [SequenceNumber] {
            guard let first = first(entries) else { return [] }
            return count == 1 ? [first] : numbers[begin...].filter { entries[$0] != nil }
        }

        mutating func first(_ entries: [SequenceNumber: Entry]) -> SequenceNumber? {
            while begin < numbers.count, entries[numbers[begin]] == nil { begin += 1 }
            return begin < numbers.count ? numbers[begin] : nil
        }

        mutating func append(_ number: SequenceNumber, _ entries: [SequenceNumber: Entry]) {
            if numbers.count > 2 * count + 16 { (numbers, begin) = (waiting(entries), 0) }
            numbers.append(number)
            count += 1
        }

        /// The item of one of the numbers was removed.
        mutating func noteRemoval() {
            count -= 1
            if count == 0 {
                numbers.removeAll(keepingCapacity: true)
                begin = 0
            }
        }
    }

    /// The similar items, for a mask that was used.
    private struct SimilarItems {
        let mask: Mask
        var lines: [Key: Line] = [:]

        /// The key with the properties of the mask only; nil if nothing is similar.
        func masked(_ key: Key) -> Key? {
            var key = key
            if !mask.contains(.onName) { key.name = Notification.Name("") }
            if !mask.contains(.onSender) { key.sender = .none }
            return key.sender == .incomparable ? nil : key
        }

        mutating func append(_ number: SequenceNumber, _ key: Key, _ entries: [SequenceNumber: Entry]) {
            if let key = masked(key) { lines[key, default: Line()].append(number, entries) }
        }

        mutating func noteRemoval(_ key: Key) {
            guard let key = masked(key), let place = lines.index(forKey: key) else { return }
            lines.values[place].noteRemoval()
            if lines.values[place].count == 0 { lines.remove(at: place) }
        }
    }

    private var entries: [SequenceNumber: Entry] = [:]
    /// See `line`.
    private var lines: [Line] = []
    private var similar: [SimilarItems] = []
    /// The number that the next item gets. Numbers are never used again.
    private(set) var nextSequenceNumber: SequenceNumber = 1

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    func isEmpty(_ style: Style, modeQueue: Int) -> Bool {
        let line = Self.line(style, modeQueue)
        return line >= lines.count || lines[line].count == 0
    }

    func isEmpty(_ style: Style, modeQueues: [Int]) -> Bool { modeQueues.allSatisfy { isEmpty(style, modeQueue: $0) } }

    /// Removes the similar items and adds the item to the end.
    ///
    /// - Parameters:
    ///   - mask: the properties that similar items have in common. If it is empty, no item is similar.
    ///   - keepsEarliest: whether the earliest similar item is kept, where it is, instead of this one.
    mutating func enqueue(
        _ item: Item, _ key: Key, style: Style, modeQueue: Int, mask: Mask, keepsEarliest: Bool
    ) -> Enqueued {
        let found = numbers(similarTo: key, mask)
        if keepsEarliest, !found.isEmpty {
            return Enqueued(coalesced: found.dropFirst().compactMap { remove($0) } + [item])
        }
        let line = Self.line(style, modeQueue)
        while lines.count <= line { lines.append(Line()) }
        let number = nextSequenceNumber
        nextSequenceNumber += 1
        lines[line].append(number, entries)
        for index in similar.indices { similar[index].append(number, key, entries) }
        entries[number] = Entry(key: key, line: line, item: item)
        let coalesced = found.compactMap { remove($0) }
        return Enqueued(sequenceNumber: number, coalesced: coalesced, mustWake: lines[line].count == 1)
    }

    /// Removes all similar items.
    mutating func dequeue(matching key: Key, _ mask: Mask) -> [Item] {
        numbers(similarTo: key, mask).compactMap { remove($0) }
    }

    /// Removes the first item of a style in any of these mode queues, if its sequence number is below `end`.
    mutating func takeFirst(_ style: Style, modeQueues: [Int], before end: SequenceNumber = .max) -> Item? {
        var first = end
        for modeQueue in modeQueues where !isEmpty(style, modeQueue: modeQueue) {
            if let number = lines[Self.line(style, modeQueue)].first(entries) { first = min(first, number) }
        }
        return first == end ? nil : remove(first)
    }

    /// - Returns: the items in the order in which they were enqueued.
    mutating func removeAll() -> [Item] {
        entries.keys.sorted().compactMap { remove($0) }
    }

    /// Each set of modes has a line for each posting style.
    private static func line(_ style: Style, _ modeQueue: Int) -> Int {
        let style =
            switch style {
            case .now: 0
            case .asap: 1
            case .whenIdle: 2
            }
        return modeQueue * 3 + style
    }

    private mutating func remove(_ number: SequenceNumber) -> Item? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        lines[entry.line].noteRemoval()
        for index in similar.indices { similar[index].noteRemoval(entry.key) }
        // Releases the memory that a burst needed.
        if entries.isEmpty, entries.capacity > 4096 { (entries, lines, similar) = ([:], [], []) }
        return entry.item
    }

    private mutating func numbers(similarTo key: Key, _ mask: Mask) -> [SequenceNumber] {
        let mask = mask.intersection([.onName, .onSender])
        guard !mask.isEmpty, !entries.isEmpty else { return [] }
        if !similar.contains(where: { $0.mask == mask }) {
            var new = SimilarItems(mask: mask)
            for (number, entry) in entries.sorted(by: { $0.key < $1.key }) { new.append(number, entry.key, entries) }
            similar.append(new)
        }
        guard let index = similar.firstIndex(where: { $0.mask == mask }), let key = similar[index].masked(key),
            let place = similar[index].lines.index(forKey: key)
        else { return [] }
        return similar[index].lines.values[place].waiting(entries)
    }
}

extension CoalescingBuffer.Enqueued: Sendable where Item: Sendable {}
