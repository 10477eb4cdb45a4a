import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class TakenDeliveriesTests: XCTestCase {
    private typealias Pending = PendingDeliveries<Int, ComparedMailbox.Waiter>
    private typealias Taken = TakenDeliveries<Int, ComparedMailbox.Waiter>

    func testNestedDrainsDeliverTheSameItemsAsAPlainArray() throws {
        for seed in 0..<TestRounds.rounds(6, stress: 60) as Range<UInt64> { try againstAnArray(seed: seed) }
    }

    private func againstAnArray(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let queues = 3
        var mailbox = ComparedMailbox(queues: queues)
        func drain(depth: Int) throws {
            let drained = (0..<queues).filter { _ in random.once(in: 2) }
            for queue in drained { try mailbox.take(queue: queue) }
            try mailbox.checkHasMoreThanOne(in: drained)
            while try mailbox.deliverFirst(of: drained) {
                // The work of a handler.
                for _ in 0..<3 where random.once(in: 4) {
                    try mailbox.append(queue: Int.random(in: 0..<queues, using: &random))
                }
                if depth < 4, random.once(in: 4) { try drain(depth: depth + 1) }
                try mailbox.checkHasMoreThanOne(in: drained)
                try mailbox.check()
                if random.once(in: 10) { return }
            }
        }
        for _ in 0..<25 {
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                try mailbox.append(queue: Int.random(in: 0..<queues, using: &random))
            }
            try drain(depth: 0)
        }
        try mailbox.removeAll()
        XCTAssertEqual(mailbox.outcomes.appended, mailbox.outcomes.delivered + mailbox.outcomes.removed)
        XCTAssertGreaterThan(mailbox.outcomes.delivered, 0)
    }

    func testANestedDrainContinuesAfterTheOuterOnesLastEntryAndTakesLaterAppendsToo() {
        var (pending, taken) = (Pending(), Taken())
        let queues = [pending.addQueue(), pending.addQueue()]
        func append(_ item: Int, queue: Int) { _ = pending.append(item, to: queue) }
        func take() {
            for queue in queues { taken.take(queue) { pending.takeAll(of: queue, into: &$0) } }
        }
        func takeFirst() -> Int? {
            taken.takeFirst(of: queues).flatMap { if case .item(let item) = $0.content { item } else { nil } }
        }
        for item in 1...4 { append(item, queue: queues[item % 2]) }
        take()
        XCTAssertEqual(takeFirst(), 1)
        append(5, queue: queues[1])
        append(6, queue: queues[0])
        take()
        XCTAssertEqual(takeFirst(), 2)
        append(7, queue: queues[1])
        take()
        XCTAssertEqual((3...7).map { _ in takeFirst() }, [3, 4, 5, 6, 7])
        XCTAssertNil(takeFirst())
    }

    func testADrainOfOneQueueTakesNothingOfAnother() {
        var (pending, taken) = (Pending(), Taken())
        let (one, other) = (pending.addQueue(), pending.addQueue())
        _ = pending.append(1, to: other)
        _ = pending.append(2, to: one)
        for queue in [one, other] { taken.take(queue) { pending.takeAll(of: queue, into: &$0) } }
        let first = taken.takeFirst(of: [one])
        XCTAssertEqual(first?.number, 2)
        let second = taken.takeFirst(of: [one])
        XCTAssertNil(second)
        XCTAssertTrue(taken.isEmpty(one))
        XCTAssertFalse(taken.isEmpty(other))
    }

    func testANestedDrainReleasesItsOwnExhaustedChunksNotTheOuterDrains() {
        final class Object {}
        var (pending, taken) = (Pending(), Taken())
        let queue = pending.addQueue()
        func append(_ items: ClosedRange<Int>) -> Object {
            let object = Object()
            for item in items {
                _ = pending.append(item, to: queue)
                pending.retain(object, in: queue)
            }
            taken.take(queue) { pending.takeAll(of: queue, into: &$0) }
            return object
        }
        let outer = append(1...2)
        _ = taken.takeFirst(of: queue, in: 1)
        let inner = append(3...3)
        _ = taken.takeFirst(of: queue, in: 2)
        let ofOuter = taken.takeExhausted(in: 2)
        XCTAssertNil(ofOuter)
        _ = taken.takeFirst(of: queue, in: 2)
        let first = taken.takeExhausted(in: 2)
        XCTAssertIdentical(first?.owners.first, inner)
        let second = taken.takeExhausted(in: 2)
        XCTAssertNil(second)
        let third = taken.takeExhausted(in: 1)
        XCTAssertIdentical(third?.owners.first, outer)
        XCTAssertFalse(taken.hasExhausted)
    }
}
