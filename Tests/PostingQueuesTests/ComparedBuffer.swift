import Foundation
import SharedTesting

@testable import PostingQueues
@testable import ThreadedNotifications

/// A `CoalescingBuffer` and a plain array that is searched from end to end, driven together. It throws where they
/// differ.
struct ComparedBuffer {
    typealias Buffer = CoalescingBuffer<Int>

    /// A sender: none, one of two objects, one of two values, or a value that cannot be compared.
    enum Sender: Int {
        case none, object1, object2, value1, value2, incomparable

        fileprivate var inBuffer: Buffer.Sender { Self.inBuffer[rawValue] }

        /// "Senders by identity for objects and equality for values; no sender equals no sender."
        fileprivate func isSame(as other: Sender) -> Bool { self == other && self != .incomparable }

        private final class Object: Sendable {}
        private static let objects = [Object(), Object()]
        private static let inBuffer: [Buffer.Sender] = [
            .none, .object(ObjectIdentifier(objects[0])), .object(ObjectIdentifier(objects[1])), .value(1), .value(2),
            .incomparable,
        ]
    }

    struct Key {
        var queue: Int
        var name: Int
        var sender: Sender

        fileprivate var inBuffer: Buffer.Key {
            Buffer.Key(queue: UInt64(queue), name: Self.names[name], sender: sender.inBuffer)
        }

        private static let names = ["a", "b", "c"].map { Notification.Name($0) }
    }

    /// One call of the buffer.
    enum Step {
        case enqueue(Key, style: Buffer.Style, modeQueue: Int, mask: Buffer.Mask, keepsEarliest: Bool)
        case dequeue(Key, mask: Buffer.Mask)
        /// `back`: the end is this far before the next sequence number; nil: there is no end.
        case takeFirst(Buffer.Style, modeQueues: [Int], back: UInt64?)
        case removeAll
    }

    struct Difference: Error {
        var what: String
    }

    /// An element of the plain array, which is in the order of enqueuing.
    private struct Waiting {
        var item: Int
        var sequenceNumber: Buffer.SequenceNumber
        var key: Key
        var style: Buffer.Style
        var modeQueue: Int
    }

    static let styles: [Buffer.Style] = [.now, .asap, .whenIdle]
    static let masks: [Buffer.Mask] = [[], .onName, .onSender, [.onName, .onSender]]
    static let modeQueues = 0..<3
    /// All sets of mode queues.
    static let setsOfModeQueues = (0..<1 << modeQueues.count).map { set in modeQueues.filter { set & 1 << $0 != 0 } }

    private var buffer = Buffer()
    private var waiting: [Waiting] = []
    private var steps = 0

    // MARK: One step

    mutating func take(_ step: Step) throws(Difference) {
        steps += 1
        switch step {
        case .enqueue(let key, let style, let modeQueue, let mask, let keepsEarliest):
            try enqueue(key, style, modeQueue, mask, keepsEarliest)
        case .dequeue(let key, let mask):
            try agree(buffer.dequeue(matching: key.inBuffer, mask), removeSimilar(to: key, mask), "the dequeued items")
        case .takeFirst(let style, let modeQueues, let back):
            try takeFirst(style, modeQueues, back)
        case .removeAll:
            let next = buffer.nextSequenceNumber
            try agree(buffer.removeAll(), waiting.map(\.item), "the items that removeAll returns")
            try agree(buffer.nextSequenceNumber, next, "the next sequence number")
            waiting = []
        }
        try agree(buffer.count, waiting.count, "the count")
        try agree(buffer.isEmpty, waiting.isEmpty, "isEmpty")
    }

    private mutating func enqueue(
        _ key: Key, _ style: Buffer.Style, _ modeQueue: Int, _ mask: Buffer.Mask, _ keepsEarliest: Bool
    ) throws(Difference) {
        let next = buffer.nextSequenceNumber
        let enqueued = buffer.enqueue(
            steps, key.inBuffer, style: style, modeQueue: modeQueue, mask: mask, keepsEarliest: keepsEarliest)
        let earliest = waiting.first { isSimilar($0.key, key, mask) }
        var removed = removeSimilar(to: key, mask)
        if keepsEarliest, let earliest {
            removed.removeFirst()
            waiting.insert(
                earliest, at: waiting.firstIndex { $0.sequenceNumber > earliest.sequenceNumber } ?? waiting.endIndex)
            try agree(enqueued.coalesced, removed + [steps], "the items coalesced into the earliest")
            try agree(enqueued.sequenceNumber, nil, "the sequence number of a coalesced item")
            try agree(enqueued.mustWake, false, "mustWake for a coalesced item")
            try agree(buffer.nextSequenceNumber, next, "the next sequence number")
            return
        }
        try agree(enqueued.coalesced, removed, "the coalesced items")
        try agree(enqueued.sequenceNumber, next, "the sequence number")
        guard buffer.nextSequenceNumber > next else {
            throw Difference(what: "the sequence number \(next) is used twice")
        }
        let isAlone = !waiting.contains { $0.style == style && $0.modeQueue == modeQueue }
        try agree(enqueued.mustWake, isAlone, "mustWake")
        waiting.append(Waiting(item: steps, sequenceNumber: next, key: key, style: style, modeQueue: modeQueue))
    }

    private mutating func takeFirst(
        _ style: Buffer.Style, _ modeQueues: [Int], _ back: UInt64?
    ) throws(Difference) {
        let end = back.map { buffer.nextSequenceNumber - min($0, buffer.nextSequenceNumber) } ?? .max
        let first = waiting.firstIndex {
            $0.style == style && modeQueues.contains($0.modeQueue) && $0.sequenceNumber < end
        }
        let expected = first.map { waiting.remove(at: $0).item }
        let taken =
            back == nil
            ? buffer.takeFirst(style, modeQueues: modeQueues)
            : buffer.takeFirst(style, modeQueues: modeQueues, before: end)
        try agree(taken, expected, "the item that is taken first")
    }

    // MARK: The plain array

    private func isSimilar(_ one: Key, _ other: Key, _ mask: Buffer.Mask) -> Bool {
        if mask.isEmpty || one.queue != other.queue { return false }
        if mask.contains(.onName), one.name != other.name { return false }
        return !mask.contains(.onSender) || one.sender.isSame(as: other.sender)
    }

    private mutating func removeSimilar(to key: Key, _ mask: Buffer.Mask) -> [Int] {
        var removed: [Int] = []
        var kept: [Waiting] = []
        for one in waiting {
            if isSimilar(one.key, key, mask) { removed.append(one.item) } else { kept.append(one) }
        }
        waiting = kept
        return removed
    }

    // MARK: Invariants

    /// Compares the waiting items, in all ways in which they can be asked for and taken.
    func check() throws(Difference) {
        for style in Self.styles {
            for modeQueues in Self.setsOfModeQueues {
                let isEmpty = !waiting.contains { $0.style == style && modeQueues.contains($0.modeQueue) }
                try agree(
                    buffer.isEmpty(style, modeQueues: modeQueues), isEmpty,
                    "isEmpty of \(style) in mode queues \(modeQueues)")
            }
        }
        var copy = self
        try copy.take(.removeAll)
        copy = self
        try copy.empty()
    }

    /// Takes all items, each style in its order.
    mutating func empty() throws(Difference) {
        for style in Self.styles {
            let count = waiting.count { $0.style == style }
            for _ in 0...count { try takeFirst(style, Array(Self.modeQueues), nil) }
        }
        try agree(buffer.count, 0, "the count after all items were taken")
    }

    private func agree<Value: Equatable>(
        _ value: Value, _ naive: Value, _ what: @autoclosure () -> String
    ) throws(Difference) {
        guard value == naive else { throw Difference(what: "\(what()): \(value), expected \(naive)") }
    }
}

/// The names, senders and mode queues of one random sequence. They are few, so that many items are similar.
struct BufferVocabulary {
    private var random: SeededGenerator
    private let queues: Int
    private let names: Int
    private let senders: [ComparedBuffer.Sender]
    private let modeQueues: Int

    init(_ random: SeededGenerator) {
        self.random = random
        var bits = self.random.next()
        queues = 1 + Self.choose(2, &bits)
        names = 1 + Self.choose(3, &bits)
        let (first, count) = (Self.choose(6, &bits), 1 + Self.choose(6, &bits))
        senders = (first..<first + count).map { ComparedBuffer.Sender(rawValue: $0 % 6)! }
        modeQueues = 1 + Self.choose(ComparedBuffer.modeQueues.count, &bits)
    }

    private static func choose(_ count: Int, _ bits: inout UInt64) -> Int {
        defer { bits /= UInt64(count) }
        return Int(bits % UInt64(count))
    }

    mutating func step() -> ComparedBuffer.Step {
        // One random number for all choices, because there are millions of steps.
        var bits = random.next()
        func choose(_ count: Int) -> Int { Self.choose(count, &bits) }
        let kind = choose(16)
        let key = ComparedBuffer.Key(queue: choose(queues), name: choose(names), sender: senders[choose(senders.count)])
        let style = ComparedBuffer.styles[choose(3)]
        let mask = ComparedBuffer.masks[choose(4)]
        switch kind {
        case 0..<10:
            return .enqueue(key, style: style, modeQueue: choose(modeQueues), mask: mask, keepsEarliest: choose(2) == 0)
        case 10, 11:
            return .dequeue(key, mask: mask)
        case 15 where choose(4) == 0:
            return .removeAll
        default:
            let modeQueues = ComparedBuffer.setsOfModeQueues[choose(ComparedBuffer.setsOfModeQueues.count)]
            return .takeFirst(style, modeQueues: modeQueues, back: choose(2) == 0 ? nil : UInt64(choose(6)))
        }
    }
}

extension ComparedBuffer.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .enqueue(let key, let style, let modeQueue, let mask, let keepsEarliest):
            "enqueue \(key), \(style), mode queue \(modeQueue), mask \(mask.rawValue)"
                + (keepsEarliest ? ", keeping the earliest" : "")
        case .dequeue(let key, let mask): "dequeue \(key), mask \(mask.rawValue)"
        case .takeFirst(let style, let modeQueues, let back):
            "takeFirst \(style), mode queues \(modeQueues)" + (back.map { ", \($0) before the next number" } ?? "")
        case .removeAll: "removeAll"
        }
    }
}
