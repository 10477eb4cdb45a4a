import Foundation

@testable import ThreadedNotifications

/// A `CoalescingBuffer` and a plain array that is looked through from end to end, driven together; it throws where they differ.
struct ComparedBuffer {
    typealias Buffer = CoalescingBuffer<Int>

    /// Who sends: nobody, one of two objects, one of two values, or a value that cannot be compared.
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
        case enqueue(Key, style: Buffer.Style, lane: Int, mask: Buffer.Mask, keepsEarliest: Bool)
        case dequeue(Key, mask: Buffer.Mask)
        /// `back`: so many places before the next one is the end; nil: there is none.
        case takeFirst(Buffer.Style, lanes: [Int], back: UInt64?)
        case removeAll
    }

    struct Difference: Error {
        var what: String
    }

    /// Something in the plain array, which is in the order of enqueuing.
    private struct Waiting {
        var item: Int
        var place: Buffer.Place
        var key: Key
        var style: Buffer.Style
        var lane: Int
    }

    static let styles: [Buffer.Style] = [.now, .asap, .whenIdle]
    static let masks: [Buffer.Mask] = [[], .onName, .onSender, [.onName, .onSender]]
    static let lanes = 0..<3
    /// All sets of lanes.
    static let setsOfLanes = (0..<1 << lanes.count).map { set in lanes.filter { set & 1 << $0 != 0 } }

    private var buffer = Buffer()
    private var waiting: [Waiting] = []
    private var steps = 0

    // MARK: One step

    mutating func take(_ step: Step) throws(Difference) {
        steps += 1
        switch step {
        case .enqueue(let key, let style, let lane, let mask, let keepsEarliest):
            try enqueue(key, style, lane, mask, keepsEarliest)
        case .dequeue(let key, let mask):
            try agree(buffer.dequeue(matching: key.inBuffer, mask), removeSimilar(to: key, mask), "what is dequeued")
        case .takeFirst(let style, let lanes, let back):
            try takeFirst(style, lanes, back)
        case .removeAll:
            let places = buffer.nextPlace
            try agree(buffer.removeAll(), waiting.map(\.item), "what is removed with all")
            try agree(buffer.nextPlace, places, "the next place")
            waiting = []
        }
        try agree(buffer.count, waiting.count, "how many wait")
        try agree(buffer.isEmpty, waiting.isEmpty, "whether none waits")
    }

    private mutating func enqueue(
        _ key: Key, _ style: Buffer.Style, _ lane: Int, _ mask: Buffer.Mask, _ keepsEarliest: Bool
    ) throws(Difference) {
        let next = buffer.nextPlace
        let enqueued = buffer.enqueue(
            steps, key.inBuffer, style: style, lane: lane, mask: mask, keepsEarliest: keepsEarliest)
        let earliest = waiting.first { isSimilar($0.key, key, mask) }
        var removed = removeSimilar(to: key, mask)
        if keepsEarliest, let earliest {
            removed.removeFirst()
            waiting.insert(earliest, at: waiting.firstIndex { $0.place > earliest.place } ?? waiting.endIndex)
            try agree(enqueued.coalesced, removed + [steps], "what is coalesced into the earliest")
            try agree(enqueued.place, nil, "the place of what was coalesced")
            try agree(enqueued.mustWake, false, "the need to wake for what was coalesced")
            try agree(buffer.nextPlace, next, "the next place")
            return
        }
        try agree(enqueued.coalesced, removed, "what is coalesced")
        try agree(enqueued.place, next, "the place")
        guard buffer.nextPlace > next else { throw Difference(what: "the place \(next) is given again") }
        let isAlone = !waiting.contains { $0.style == style && $0.lane == lane }
        try agree(enqueued.mustWake, isAlone, "the need to wake")
        waiting.append(Waiting(item: steps, place: next, key: key, style: style, lane: lane))
    }

    private mutating func takeFirst(
        _ style: Buffer.Style, _ lanes: [Int], _ back: UInt64?
    ) throws(Difference) {
        let end = back.map { buffer.nextPlace - min($0, buffer.nextPlace) } ?? .max
        let first = waiting.firstIndex { $0.style == style && lanes.contains($0.lane) && $0.place < end }
        let expected = first.map { waiting.remove(at: $0).item }
        let taken =
            back == nil ? buffer.takeFirst(style, lanes: lanes) : buffer.takeFirst(style, lanes: lanes, before: end)
        try agree(taken, expected, "what is taken first")
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

    // MARK: What holds at any time

    /// Compares what waits, in all the ways in which it can be taken out, and asked for.
    func check() throws(Difference) {
        for style in Self.styles {
            for lanes in Self.setsOfLanes {
                let isEmpty = !waiting.contains { $0.style == style && lanes.contains($0.lane) }
                try agree(
                    buffer.isEmpty(style, lanes: lanes), isEmpty, "whether none waits in lanes \(lanes) as \(style)")
            }
        }
        var copy = self
        try copy.take(.removeAll)
        copy = self
        try copy.empty()
    }

    /// Takes all that waits, each style in its order.
    mutating func empty() throws(Difference) {
        for style in Self.styles {
            let count = waiting.count { $0.style == style }
            for _ in 0...count { try takeFirst(style, Array(Self.lanes), nil) }
        }
        try agree(buffer.count, 0, "how many wait when all was taken")
    }

    private func agree<Value: Equatable>(
        _ value: Value, _ naive: Value, _ what: @autoclosure () -> String
    ) throws(Difference) {
        guard value == naive else { throw Difference(what: "\(what()): \(value), and not \(naive)") }
    }
}

/// Of what the steps of one sequence are made: few names and senders leave many that are similar.
struct BufferVocabulary {
    private var random: SeededGenerator
    private let queues: Int
    private let names: Int
    private let senders: [ComparedBuffer.Sender]
    private let lanes: Int

    init(_ random: SeededGenerator) {
        self.random = random
        var bits = self.random.next()
        queues = 1 + Self.choose(2, &bits)
        names = 1 + Self.choose(3, &bits)
        let (first, count) = (Self.choose(6, &bits), 1 + Self.choose(6, &bits))
        senders = (first..<first + count).map { ComparedBuffer.Sender(rawValue: $0 % 6)! }
        lanes = 1 + Self.choose(ComparedBuffer.lanes.count, &bits)
    }

    private static func choose(_ count: Int, _ bits: inout UInt64) -> Int {
        defer { bits /= UInt64(count) }
        return Int(bits % UInt64(count))
    }

    mutating func step() -> ComparedBuffer.Step {
        // One random number for all the choices: there are millions of steps.
        var bits = random.next()
        func choose(_ count: Int) -> Int { Self.choose(count, &bits) }
        let kind = choose(16)
        let key = ComparedBuffer.Key(queue: choose(queues), name: choose(names), sender: senders[choose(senders.count)])
        let style = ComparedBuffer.styles[choose(3)]
        let mask = ComparedBuffer.masks[choose(4)]
        switch kind {
        case 0..<10:
            return .enqueue(key, style: style, lane: choose(lanes), mask: mask, keepsEarliest: choose(2) == 0)
        case 10, 11:
            return .dequeue(key, mask: mask)
        case 15 where choose(4) == 0:
            return .removeAll
        default:
            let lanes = ComparedBuffer.setsOfLanes[choose(ComparedBuffer.setsOfLanes.count)]
            return .takeFirst(style, lanes: lanes, back: choose(2) == 0 ? nil : UInt64(choose(6)))
        }
    }
}

extension ComparedBuffer.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .enqueue(let key, let style, let lane, let mask, let keepsEarliest):
            "enqueue \(key), \(style), lane \(lane), mask \(mask.rawValue), keeping \(keepsEarliest ? "earliest" : "latest")"
        case .dequeue(let key, let mask): "dequeue \(key), mask \(mask.rawValue)"
        case .takeFirst(let style, let lanes, let back):
            "takeFirst \(style), lanes \(lanes)" + (back.map { ", \($0) before the next place" } ?? "")
        case .removeAll: "removeAll"
        }
    }
}
