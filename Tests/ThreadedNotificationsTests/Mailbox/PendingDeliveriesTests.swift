import Testing

@testable import ThreadedNotifications

@Suite("PendingDeliveries")
struct PendingDeliveriesTests {
    private final class Waiter {}
    private typealias Pending = PendingDeliveries<Int, Waiter>

    private static func items(of chunks: [Pending.Chunk]) -> [Int?] {
        chunks.flatMap(\.entries).map { if case .item(let item) = $0.content { item } else { nil } }
    }

    @Test("only what is appended to an empty lane signals")
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

    @Test("places are in the order of appending, over all lanes")
    func places() {
        var pending = Pending()
        let lanes = [pending.addQueue(), pending.addQueue()]
        for item in 0..<10 { _ = pending.append(item, to: lanes[item % 2]) }
        var taken = TakenDeliveries<Int, Waiter>()
        for lane in lanes { taken.take(lane) { pending.takeAll(of: lane, into: &$0) } }
        var order: [Int] = []
        while let entry = taken.takeFirst(of: lanes) {
            if case .item(let item) = entry.content { order.append(item) }
        }
        #expect(order == Array(0..<10))
    }

    @Test(
        "whatever waits in a lane was signalled after the lane was last emptied", arguments: 0..<30 as Range<UInt64>)
    func signals(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lanes = 1 + Int(seed % 4)
        let policies: [OverflowPolicy] = [.dropOldest(capacity: 1), .keepLatest, .refuse(capacity: 2)]
        let observers = policies.indices.map {
            ComparedMailbox.Observer(id: ObserverID($0 + 1), lane: $0 % lanes, policy: policies[$0])
        }
        var mailbox = ComparedMailbox(lanes: lanes, observers: observers)
        for _ in 0..<400 {
            // So that now and then a lane is full of what stands for nothing.
            switch Int.random(in: 0..<40, using: &random) {
            case 0: try mailbox.append(lane: Int.random(in: 0..<lanes, using: &random))
            case 1: try mailbox.take(lane: Int.random(in: 0..<lanes, using: &random))
            case 2: try mailbox.deliverFirst(of: Array(0..<lanes))
            default: try mailbox.append(for: observers.randomElement(using: &random)!.id, key: 0, waits: false)
            }
            try mailbox.check()
        }
        try mailbox.removeAll()
    }

    @Test("when the thread ends, everything is given once, in the order of appending, and nothing after")
    func removal() {
        var pending = Pending()
        let lanes = [pending.addQueue(), pending.addQueue()]
        let waiter = Waiter()
        for item in 0..<40 {
            switch item % 4 {
            case 0: _ = pending.append(item, to: lanes[0])
            case 1: _ = pending.append(item, to: lanes[1])
            case 2: _ = pending.append(item, to: lanes[1], observer: 1, policy: .refuse(capacity: 40))
            default: _ = pending.append(item, to: lanes[0], observer: 2, policy: .dropNewest(capacity: 40))
            }
        }
        _ = pending.append(40, to: lanes[0], observer: 3, policy: .block(capacity: 1, timeout: .zero), waiter: waiter)
        _ = pending.append(41, to: lanes[0], observer: 3, policy: .block(capacity: 1, timeout: .zero), waiter: waiter)
        let (items, waiters, _) = pending.removeAll()
        #expect(items == Array(0...40))
        #expect(waiters.count == 1 && waiters.first === waiter)
        let again = pending.removeAll()
        #expect(again.items == [])
        #expect(again.waiters.isEmpty)
        let mustSignal = pending.append(42, to: lanes[0])
        #expect(mustSignal)
    }

    @Test("a million are appended, dropped, taken and told of in a time that is linear")
    func linearCost() {
        let count = 1_000_000
        // Would take hours if any one of them looked through the others.
        var pending = Pending()
        var taken = TakenDeliveries<Int, Waiter>()
        let lane = pending.addQueue()
        let bounded = 10_000
        for item in 0..<count { _ = pending.append(item, to: lane) }
        taken.take(lane) { pending.takeAll(of: lane, into: &$0) }
        var isInOrder = true
        for item in 0..<count {
            guard case .item(item)? = taken.takeFirst(of: [lane])?.content else {
                isInOrder = false
                break
            }
        }
        #expect(isInOrder)
        let policy = OverflowPolicy.dropOldest(capacity: bounded)
        for item in 0..<5 * bounded { _ = pending.append(item, to: lane, observer: 1, policy: policy) }
        #expect(pending.removeAll().items == Array(4 * bounded..<5 * bounded))
    }
}
