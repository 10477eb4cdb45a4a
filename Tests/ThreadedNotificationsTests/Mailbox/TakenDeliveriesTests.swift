import Testing

@testable import ThreadedNotifications

@Suite("TakenDeliveries")
struct TakenDeliveriesTests {
    private typealias Pending = PendingDeliveries<Int, ComparedMailbox.Waiter>
    private typealias Taken = TakenDeliveries<Int, ComparedMailbox.Waiter>

    @Test(
        "drains that are nested in any way take what a plain array would give them", arguments: 0..<60 as Range<UInt64>)
    func againstAnArray(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let lanes = 3
        var mailbox = ComparedMailbox(lanes: lanes)
        func drain(depth: Int) throws {
            let drained = (0..<lanes).filter { _ in random.once(in: 2) }
            for lane in drained { try mailbox.take(lane: lane) }
            try mailbox.checkHasMoreThanOne(in: drained)
            while try mailbox.deliverFirst(of: drained) {
                // The handler.
                for _ in 0..<3 where random.once(in: 4) {
                    try mailbox.append(lane: Int.random(in: 0..<lanes, using: &random))
                }
                if depth < 4, random.once(in: 4) { try drain(depth: depth + 1) }
                try mailbox.checkHasMoreThanOne(in: drained)
                try mailbox.check()
                if random.once(in: 10) { return }
            }
        }
        for _ in 0..<25 {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                try mailbox.append(lane: Int.random(in: 0..<lanes, using: &random))
            }
            try drain(depth: 0)
        }
        try mailbox.removeAll()
        #expect(mailbox.fates.appended == mailbox.fates.delivered + mailbox.fates.told)
        #expect(mailbox.fates.delivered > 0)
    }

    @Test("a nested drain goes on where the outer one stands, and both are through what came in between")
    func nestedDrain() {
        var (pending, taken) = (Pending(), Taken())
        let lanes = [pending.addQueue(), pending.addQueue()]
        func append(_ item: Int, lane: Int) { _ = pending.append(item, to: lane) }
        func take() {
            for lane in lanes { taken.take(lane) { pending.takeAll(of: lane, into: &$0) } }
        }
        func takeFirst() -> Int? {
            taken.takeFirst(of: lanes).flatMap { if case .item(let item) = $0.content { item } else { nil } }
        }
        for item in 1...4 { append(item, lane: lanes[item % 2]) }
        take()
        #expect(takeFirst() == 1)
        append(5, lane: lanes[1])
        append(6, lane: lanes[0])
        take()
        #expect(takeFirst() == 2)
        append(7, lane: lanes[1])
        take()
        #expect((3...7).map { _ in takeFirst() } == [3, 4, 5, 6, 7])
        #expect(takeFirst() == nil)
    }

    @Test("a drain of some lanes leaves the others alone")
    func otherLanes() {
        var (pending, taken) = (Pending(), Taken())
        let (one, other) = (pending.addQueue(), pending.addQueue())
        _ = pending.append(1, to: other)
        _ = pending.append(2, to: one)
        for lane in [one, other] { taken.take(lane) { pending.takeAll(of: lane, into: &$0) } }
        let first = taken.takeFirst(of: [one])
        #expect(first?.number == 2)
        let second = taken.takeFirst(of: [one])
        #expect(second == nil)
        #expect(taken.isEmpty(one))
        #expect(!taken.isEmpty(other))
    }

    @Test("a nested drain lets go of what it took out itself, and not of what the outer one delivers")
    func exhaustedByNestedDrains() {
        final class Kept {}
        var (pending, taken) = (Pending(), Taken())
        let lane = pending.addQueue()
        func append(_ items: ClosedRange<Int>) -> Kept {
            let kept = Kept()
            for item in items {
                _ = pending.append(item, to: lane)
                pending.retain(kept, in: lane)
            }
            taken.take(lane) { pending.takeAll(of: lane, into: &$0) }
            return kept
        }
        let outer = append(1...2)
        _ = taken.takeFirst(of: lane, in: 1)
        let inner = append(3...3)
        _ = taken.takeFirst(of: lane, in: 2)
        let ofOuter = taken.takeExhausted(in: 2)
        #expect(ofOuter == nil)
        _ = taken.takeFirst(of: lane, in: 2)
        let first = taken.takeExhausted(in: 2)
        #expect(first?.owners.first === inner)
        let second = taken.takeExhausted(in: 2)
        #expect(second == nil)
        let third = taken.takeExhausted(in: 1)
        #expect(third?.owners.first === outer)
        #expect(!taken.hasExhausted)
    }
}
