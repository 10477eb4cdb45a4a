import SharedTesting
import Testing

@testable import ThreadedNotifications

@Suite("PendingDeliveries")
struct PendingDeliveriesTests {
    private final class Waiter {}
    private typealias Pending = PendingDeliveries<Int, Waiter>

    private static func items(of chunks: [Pending.Chunk]) -> [Int?] {
        chunks.flatMap(\.entries).map { if case .item(let item) = $0.content { item } else { nil } }
    }

    @Test("an append signals if the queue was empty, and only then")
    func signalOnTransition() {
        var pending = Pending()
        let (one, other) = (pending.addQueue(), pending.addQueue())
        let signal1 = pending.append(1, to: one)
        #expect(signal1)
        let signal2 = pending.append(2, to: one)
        #expect(!signal2)
        let signal3 = pending.append(3, to: other)
        #expect(signal3)
        var taken: [Pending.Chunk] = []
        pending.takeAll(of: one, into: &taken)
        #expect(Self.items(of: taken) == [1, 2])
        #expect(pending.isEmpty(one))
        #expect(!pending.isEmpty(other))
        let signal4 = pending.append(4, to: one)
        #expect(signal4)
    }

    @Test("entries are taken in the order in which they were appended, across queues")
    func order() {
        var pending = Pending()
        let queues = [pending.addQueue(), pending.addQueue()]
        for item in 0..<10 { _ = pending.append(item, to: queues[item % 2]) }
        var taken = TakenDeliveries<Int, Waiter>()
        for queue in queues { taken.take(queue) { pending.takeAll(of: queue, into: &$0) } }
        var takenItems: [Int] = []
        while let entry = taken.takeFirst(of: queues) {
            if case .item(let item) = entry.content { takenItems.append(item) }
        }
        #expect(takenItems == Array(0..<10))
    }

    @Test(
        "a queue that is not empty was signalled after it was last emptied", arguments: 0..<30 as Range<UInt64>)
    func signals(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let queues = 1 + Int(seed % 4)
        let policies: [OverflowPolicy] = [.dropOldest(capacity: 1), .keepLatest, .refuse(capacity: 2)]
        let observers = policies.indices.map {
            ComparedMailbox.Observer(id: ObserverID($0 + 1), queue: $0 % queues, policy: policies[$0])
        }
        var mailbox = ComparedMailbox(queues: queues, observers: observers)
        for _ in 0..<400 {
            // Mostly appends, so that a queue sometimes has entries of dropped items only.
            switch Int.random(in: 0..<40, using: &random) {
            case 0: try mailbox.append(queue: Int.random(in: 0..<queues, using: &random))
            case 1: try mailbox.take(queue: Int.random(in: 0..<queues, using: &random))
            case 2: try mailbox.deliverFirst(of: Array(0..<queues))
            default: try mailbox.append(for: observers.randomElement(using: &random)!.id, key: 0, waits: false)
            }
            try mailbox.check()
        }
        try mailbox.removeAll()
    }

    @Test("removeAll returns every item and waiter once, in the order in which they were appended")
    func removal() {
        var pending = Pending()
        let queues = [pending.addQueue(), pending.addQueue()]
        let waiter = Waiter()
        for item in 0..<40 {
            switch item % 4 {
            case 0: _ = pending.append(item, to: queues[0])
            case 1: _ = pending.append(item, to: queues[1])
            case 2: _ = pending.append(item, to: queues[1], observer: 1, policy: .refuse(capacity: 40))
            default: _ = pending.append(item, to: queues[0], observer: 2, policy: .dropNewest(capacity: 40))
            }
        }
        _ = pending.append(40, to: queues[0], observer: 3, policy: .block(capacity: 1, timeout: .zero), waiter: waiter)
        _ = pending.append(41, to: queues[0], observer: 3, policy: .block(capacity: 1, timeout: .zero), waiter: waiter)
        let (items, waiters, _) = pending.removeAll()
        #expect(items == Array(0...40))
        #expect(waiters.count == 1 && waiters.first === waiter)
        let again = pending.removeAll()
        #expect(again.items == [])
        #expect(again.waiters.isEmpty)
        let mustSignal = pending.append(42, to: queues[0])
        #expect(mustSignal)
    }

    @Test("a million items are appended and taken, and 50,000 dropped, in linear time")
    func linearCost() {
        let count = 1_000_000
        // In quadratic time this would take hours.
        var pending = Pending()
        var taken = TakenDeliveries<Int, Waiter>()
        let queue = pending.addQueue()
        let bounded = 10_000
        for item in 0..<count { _ = pending.append(item, to: queue) }
        taken.take(queue) { pending.takeAll(of: queue, into: &$0) }
        var isInOrder = true
        for item in 0..<count {
            guard case .item(item)? = taken.takeFirst(of: [queue])?.content else {
                isInOrder = false
                break
            }
        }
        #expect(isInOrder)
        let policy = OverflowPolicy.dropOldest(capacity: bounded)
        for item in 0..<5 * bounded { _ = pending.append(item, to: queue, observer: 1, policy: policy) }
        #expect(pending.removeAll().items == Array(4 * bounded..<5 * bounded))
    }
}
