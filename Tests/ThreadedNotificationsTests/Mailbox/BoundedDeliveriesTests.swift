import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class BoundedDeliveriesTests: XCTestCase {
    private typealias Waiter = ComparedMailbox.Waiter
    private typealias Pending = PendingDeliveries<Int, Waiter>

    static let policies: [OverflowPolicy] =
        [.keepLatest]
        + [1, 2, 3, 7].flatMap { capacity -> [OverflowPolicy] in
            [
                .dropOldest(capacity: capacity), .dropNewest(capacity: capacity), .refuse(capacity: capacity),
            ]
        }

    func testEachPolicyDecidesAsAPlainArrayDoesAndTheOutcomesAddUp() throws {
        for policy in Self.policies { try againstAnArray(policy: policy) }
    }

    private func againstAnArray(policy: OverflowPolicy) throws {
        for seed in 0..<TestRounds.rounds(8, stress: 80) as Range<UInt64> {
            do { try drive([policy, policy], queues: 2, steps: 60, seed: seed) } catch {
                XCTFail("seed \(seed): \(error)")
                return
            }
        }
    }

    func testObserversOfAllPoliciesMayShareAQueue() throws {
        for seed in 0..<TestRounds.rounds(5, stress: 40) as Range<UInt64> {
            try drive(Self.policies + [.unbounded], queues: 3, steps: 200, seed: seed)
        }
    }

    private func drive(_ policies: [OverflowPolicy], queues: Int, steps: Int, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let observers = policies.enumerated().map { index, policy in
            ComparedMailbox.Observer(id: ObserverID(index + 1), queue: index % queues, policy: policy)
        }
        var mailbox = ComparedMailbox(queues: queues, observers: observers)
        for step in 0..<steps {
            let observer = observers.randomElement(using: &random)!.id
            switch Int.random(in: 0..<16, using: &random) {
            case 0..<9:
                try mailbox.append(
                    for: observer, key: Int.random(in: 0..<5, using: &random), waits: !random.once(in: 4))
            case 9: try mailbox.append(queue: Int.random(in: 0..<queues, using: &random))
            case 10: try mailbox.take(queue: Int.random(in: 0..<queues, using: &random))
            case 11..<14:
                let drained = (0..<queues).filter { _ in random.once(in: 2) }
                for _ in 0..<Int.random(in: 1...4, using: &random) { try mailbox.deliverFirst(of: drained) }
            case 14:
                if let waiter = mailbox.waiters(of: observer).randomElement(using: &random) {
                    mailbox.removeWaiter(waiter, of: observer)
                }
            default: if random.once(in: 3) { try mailbox.removeWaiters(of: observer) }
            }
            if step % 8 == 0 { try mailbox.check() }
        }
        try mailbox.check()
        try mailbox.removeAll()
        let outcomes = mailbox.outcomes
        try require(outcomes.appended == outcomes.delivered + outcomes.displaced + outcomes.refused + outcomes.removed)
    }

    func testAQueueThatIsNeverDrainedHasFewEntriesOfDroppedItems() throws {
        for policy in Self.policies {
            var mailbox = ComparedMailbox(queues: 1, observers: [.init(id: 1, queue: 0, policy: policy)])
            try mailbox.append(queue: 0)
            for number in 0..<100 {
                try mailbox.append(for: 1, key: number % 5, waits: false)
                try mailbox.check()
            }
            // Entries of dropped items do not hide the others.
            try mailbox.take(queue: 0)
            while try mailbox.deliverFirst(of: [0]) {}
            XCTAssertEqual(mailbox.outcomes.delivered, 1 + (policy.capacity ?? 5))
        }
    }

    func testDeliveredItemsAndObserversWithoutItemsLeaveNothingBehind() throws {
        for policy in Self.policies {
            let observers = (1...50).map { ComparedMailbox.Observer(id: ObserverID($0), queue: 0, policy: policy) }
            var mailbox = ComparedMailbox(queues: 1, observers: observers)
            for observer in observers {
                // One more than fits, so that each observer waits for room once, and is woken.
                for key in 0...(policy.capacity ?? 5) { try mailbox.append(for: observer.id, key: key, waits: true) }
                try mailbox.take(queue: 0)
                while try mailbox.deliverFirst(of: [0]) {}
            }
            for key in 0..<100 {
                try mailbox.append(for: 1, key: key, waits: false)
                try mailbox.take(queue: 0)
                try mailbox.deliverFirst(of: [0])
            }
            XCTAssertLessThan(mailbox.elements, 30)
            // From now on an item always waits, unless the capacity is 1.
            try mailbox.append(for: 1, key: 5_000, waits: false)
            for key in 0..<400 {
                try mailbox.append(for: 1, key: key, waits: false)
                try mailbox.take(queue: 0)
                try mailbox.deliverFirst(of: [0])
            }
            // Some lists are shortened only now and then.
            XCTAssertLessThan(mailbox.elements, 200)
        }
    }

    func testATakenItemCountsUntilItIsDeliveredAndCanStillBeDropped() throws {
        for policy in Self.policies {
            var mailbox = ComparedMailbox(queues: 1, observers: [.init(id: 1, queue: 0, policy: policy)])
            for key in 0..<7 { try mailbox.append(for: 1, key: key % 5, waits: false) }
            try mailbox.take(queue: 0)
            for key in 0..<4 {
                try mailbox.append(for: 1, key: key, waits: false)
                try mailbox.check()
            }
            try mailbox.take(queue: 0)
            while try mailbox.deliverFirst(of: [0]) {}
            XCTAssertEqual(mailbox.count(of: 1), 0)
        }
    }

    func testThePolicyKeepLatestReplacesAnItemOfTheSameKeyAndAppendsTheNewOneAtTheEnd() {
        var pending = Pending()
        let queue = pending.addQueue()
        // The key of an item is its number of tens. All have the same hash.
        func append(_ item: Int) -> Int? {
            let same = pending.candidates(observer: 1, hash: 0).first { $0.1 / 10 == item / 10 }
            let outcome = pending.append(
                item, to: queue, observer: 1, policy: .keepLatest, replacing: same?.0, hash: 0)
            if case .appended(_, let displaced) = outcome { return displaced } else { return -1 }
        }
        let displaced = [10, 20, 11, 30, 21, 12].map { append($0) }
        XCTAssertEqual(displaced, [nil, nil, 10, nil, 20, 11])
        XCTAssertEqual(pending.removeAll().items, [30, 21, 12])
    }

    func testARetainedItemIsObsoleteWhileOthersOfTheObserverWait() {
        var pending = Pending()
        let queue = pending.addQueue()
        func append(_ item: Int, isRetained: Bool) -> Bool {
            if case .appended = pending.append(
                item, to: queue, observer: 1, policy: .dropOldest(capacity: 1), isRetained: isRetained)
            {
                true
            } else {
                false
            }
        }
        XCTAssertTrue(append(1, isRetained: true))
        XCTAssertTrue(append(2, isRetained: false))
        XCTAssertFalse(append(1, isRetained: true))
        XCTAssertEqual(pending.removeAll().items, [2])
        XCTAssertTrue(append(1, isRetained: true))
    }

    func testEveryChangeOfTheWaitingItemsChangesTheVersion() {
        var pending = Pending()
        let queue = pending.addQueue()
        var versions = [pending.version]
        func append(_ item: Int, replacing: UInt64? = nil) {
            _ = pending.append(item, to: queue, observer: 1, policy: .keepLatest, replacing: replacing, hash: item)
            versions.append(pending.version)
        }
        for item in 0..<3 { append(item) }
        append(2, replacing: pending.candidates(observer: 1, hash: 2).first?.0)
        for number: UInt64 in [1, 2, 4] {
            let taken = pending.takeHeld(by: 1, number: number)
            XCTAssertNotNil(taken.item)
            versions.append(pending.version)
        }
        XCTAssertTrue(pending.candidates(observer: 1, hash: 2).isEmpty)
        append(2)
        XCTAssertEqual(Set(versions).count, versions.count)
    }
}
