import SharedTesting
import Testing

@testable import ThreadedNotifications

@Suite("BoundedDeliveries")
struct BoundedDeliveriesTests {
    private typealias Waiter = ComparedMailbox.Waiter
    private typealias Pending = PendingDeliveries<Int, Waiter>

    static let policies: [OverflowPolicy] =
        [.keepLatest]
        + [1, 2, 3, 7].flatMap { capacity -> [OverflowPolicy] in
            [
                .dropOldest(capacity: capacity), .dropNewest(capacity: capacity), .refuse(capacity: capacity),
                .block(capacity: capacity, timeout: .seconds(1)),
            ]
        }

    @Test("each policy decides as a plain array does, and the outcomes add up", arguments: policies)
    func againstAnArray(policy: OverflowPolicy) throws {
        for seed in 0..<80 as Range<UInt64> {
            do { try drive([policy, policy], queues: 2, steps: 60, seed: seed) } catch {
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }

    @Test("observers of all policies may share a queue", arguments: 0..<40 as Range<UInt64>)
    func allPolicies(seed: UInt64) throws {
        try drive(Self.policies + [.unbounded], queues: 3, steps: 200, seed: seed)
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
        try #require(outcomes.appended == outcomes.delivered + outcomes.displaced + outcomes.refused + outcomes.removed)
    }

    @Test("a queue that is never drained has few entries of dropped items", arguments: policies)
    func undrained(policy: OverflowPolicy) throws {
        var mailbox = ComparedMailbox(queues: 1, observers: [.init(id: 1, queue: 0, policy: policy)])
        try mailbox.append(queue: 0)
        for number in 0..<1_000 {
            try mailbox.append(for: 1, key: number % 5, waits: false)
            try mailbox.check()
        }
        // Entries of dropped items do not hide the others.
        try mailbox.take(queue: 0)
        while try mailbox.deliverFirst(of: [0]) {}
        #expect(mailbox.outcomes.delivered == 1 + (policy.capacity ?? 5))
    }

    @Test("delivered items, and observers without items, leave nothing behind", arguments: policies)
    func memory(policy: OverflowPolicy) throws {
        let observers = (1...300).map { ComparedMailbox.Observer(id: ObserverID($0), queue: 0, policy: policy) }
        var mailbox = ComparedMailbox(queues: 1, observers: observers)
        for observer in observers {
            // One more than fits, so that each observer waits for room once, and is woken.
            for key in 0...(policy.capacity ?? 5) { try mailbox.append(for: observer.id, key: key, waits: true) }
            try mailbox.take(queue: 0)
            while try mailbox.deliverFirst(of: [0]) {}
        }
        for key in 0..<1_000 {
            try mailbox.append(for: 1, key: key, waits: false)
            try mailbox.take(queue: 0)
            try mailbox.deliverFirst(of: [0])
        }
        #expect(mailbox.elements < 20)
        // From now on an item always waits, unless the capacity is 1.
        try mailbox.append(for: 1, key: 5_000, waits: false)
        for key in 0..<2_000 {
            try mailbox.append(for: 1, key: key, waits: false)
            try mailbox.take(queue: 0)
            try mailbox.deliverFirst(of: [0])
        }
        // Some lists are shortened only now and then.
        #expect(mailbox.elements < 200)
    }

    @Test("a taken item counts until it is delivered, and can still be dropped")
    func takenCounts() throws {
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
            #expect(mailbox.count(of: 1) == 0)
        }
    }

    @Test("the policy keepLatest replaces an item of the same key, and appends the new one at the end")
    func keepLatest() {
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
        #expect(displaced == [nil, nil, 10, nil, 20, 11])
        #expect(pending.removeAll().items == [30, 21, 12])
    }

    @Test("each item that is taken wakes one waiter, the oldest first")
    func waiters() throws {
        var pending = Pending()
        let queue = pending.addQueue()
        let waiters = (0..<4).map { _ in Waiter() }
        func append(_ item: Int, _ waiter: Waiter? = nil) -> String {
            switch pending.append(
                item, to: queue, observer: 1, policy: .block(capacity: 2, timeout: .zero), waiter: waiter)
            {
            case .appended: "appended"
            case .refused: "refused"
            case .wait: "wait"
            }
        }
        #expect((0..<2).map { append($0) } == ["appended", "appended"])
        #expect(append(2) == "refused")
        #expect(waiters.map { append(2, $0) } == ["wait", "wait", "wait", "wait"])
        let removals = [pending.removeWaiter(waiters[1], of: 1), pending.removeWaiter(waiters[1], of: 1)]
        #expect(removals == [true, false])
        var chunks: [Pending.Chunk] = []
        pending.takeAll(of: queue, into: &chunks)
        let numbers = chunks.flatMap(\.entries).map(\.number)
        let first = pending.takeHeld(by: 1, number: numbers[0])
        #expect(first.item == 0)
        #expect(first.waiter === waiters[0])
        #expect(append(3) == "appended")
        #expect(append(4, waiters[0]) == "wait")
        let again = pending.takeHeld(by: 1, number: numbers[0])
        #expect(again.item == nil)
        #expect(again.waiter == nil)
        let second = pending.takeHeld(by: 1, number: numbers[1])
        #expect(second.item == 1)
        #expect(second.waiter === waiters[2])
        let removed = pending.removeWaiters(of: 1)
        #expect(removed.elementsEqual([waiters[3], waiters[0]]) { $0 === $1 })
    }

    @Test("every change of the waiting items changes the version")
    func version() {
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
            #expect(taken.item != nil)
            versions.append(pending.version)
        }
        #expect(pending.candidates(observer: 1, hash: 2).isEmpty)
        append(2)
        #expect(Set(versions).count == versions.count)
    }

    @Test("observers whose waiters were all removed leave nothing behind")
    func waitersLeaveNothing() {
        var pending = Pending()
        let queue = pending.addQueue()
        func count() -> Int {
            Mirror(reflecting: pending).children.first { $0.label == "bounded" }.map {
                Mirror(reflecting: $0.value).children.count
            } ?? -1
        }
        for observer: ObserverID in 1...100 {
            let waiters = [Waiter(), Waiter()]
            let policy = OverflowPolicy.block(capacity: 1, timeout: .zero)
            _ = pending.append(1, to: queue, observer: observer, policy: policy)
            for waiter in waiters {
                _ = pending.append(2, to: queue, observer: observer, policy: policy, waiter: waiter)
            }
            let taken = pending.takeHeld(by: observer, number: observer)
            #expect(taken.item == 1)
            if observer % 2 == 0 {
                let removed = pending.removeWaiters(of: observer)
                #expect(removed.count == 1)
            } else {
                let wasWaiting = pending.removeWaiter(waiters[1], of: observer)
                #expect(wasWaiting)
            }
        }
        #expect(count() == 0)
    }
}
