import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class PendingDeliveriesTests: XCTestCase {
    private final class Waiter {}
    private typealias Pending = PendingDeliveries<Int, Waiter>

    private static func items(of chunks: [Pending.Chunk]) -> [Int?] {
        chunks.flatMap(\.entries).map { if case .item(let item) = $0.content { item } else { nil } }
    }

    func testAnAppendSignalsIfTheQueueWasEmptyAndOnlyThen() {
        var pending = Pending()
        let (one, other) = (pending.addQueue(), pending.addQueue())
        let signal1 = pending.append(1, to: one)
        XCTAssertTrue(signal1)
        let signal2 = pending.append(2, to: one)
        XCTAssertFalse(signal2)
        let signal3 = pending.append(3, to: other)
        XCTAssertTrue(signal3)
        var taken: [Pending.Chunk] = []
        pending.takeAll(of: one, into: &taken)
        XCTAssertEqual(Self.items(of: taken), [1, 2])
        XCTAssertTrue(pending.isEmpty(one))
        XCTAssertFalse(pending.isEmpty(other))
        let signal4 = pending.append(4, to: one)
        XCTAssertTrue(signal4)
    }

    func testEntriesAreTakenInTheOrderInWhichTheyWereAppendedAcrossQueues() {
        var pending = Pending()
        let queues = [pending.addQueue(), pending.addQueue()]
        for item in 0..<10 { _ = pending.append(item, to: queues[item % 2]) }
        var taken = TakenDeliveries<Int, Waiter>()
        for queue in queues { taken.take(queue) { pending.takeAll(of: queue, into: &$0) } }
        var takenItems: [Int] = []
        while let entry = taken.takeFirst(of: queues) {
            if case .item(let item) = entry.content { takenItems.append(item) }
        }
        XCTAssertEqual(takenItems, Array(0..<10))
    }

    func testAQueueThatIsNotEmptyWasSignalledAfterItWasLastEmptied() throws {
        for seed in 0..<TestRounds.rounds(4, stress: 30) as Range<UInt64> {
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
    }

    func testRemoveAllReturnsEveryItemOnceInTheOrderInWhichTheyWereAppended() {
        var pending = Pending()
        let queues = [pending.addQueue(), pending.addQueue()]
        for item in 0..<40 {
            switch item % 4 {
            case 0: _ = pending.append(item, to: queues[0])
            case 1: _ = pending.append(item, to: queues[1])
            case 2: _ = pending.append(item, to: queues[1], observer: 1, policy: .refuse(capacity: 40))
            default: _ = pending.append(item, to: queues[0], observer: 2, policy: .dropNewest(capacity: 40))
            }
        }
        let (items, _, _) = pending.removeAll()
        XCTAssertEqual(items, Array(0..<40))
        let again = pending.removeAll()
        XCTAssertEqual(again.items, [])
        XCTAssertTrue(again.waiters.isEmpty)
        let mustSignal = pending.append(42, to: queues[0])
        XCTAssertTrue(mustSignal)
    }

    func testManyItemsAreAppendedTakenAndDroppedInLinearTime() {
        let count = TestRounds.rounds(50_000, stress: 1_000_000)
        // In quadratic time this would take minutes.
        var pending = Pending()
        var taken = TakenDeliveries<Int, Waiter>()
        let queue = pending.addQueue()
        let bounded = 2_000
        for item in 0..<count { _ = pending.append(item, to: queue) }
        taken.take(queue) { pending.takeAll(of: queue, into: &$0) }
        var isInOrder = true
        for item in 0..<count {
            guard case .item(item)? = taken.takeFirst(of: [queue])?.content else {
                isInOrder = false
                break
            }
        }
        XCTAssertTrue(isInOrder)
        let policy = OverflowPolicy.dropOldest(capacity: bounded)
        for item in 0..<5 * bounded { _ = pending.append(item, to: queue, observer: 1, policy: policy) }
        XCTAssertEqual(pending.removeAll().items, Array(4 * bounded..<5 * bounded))
    }
}
