@testable import DistributedNotifications
@testable import NotificationServer

/// The rules of suspension, written down with lists that are looked through from end to end.
struct NaiveSuspension {
    private struct Entry {
        var post: TestPost
        var behaviors: [(registration: UInt32, behavior: SuspensionBehavior)]
        var byteCount: Int
    }

    let entryLimit: Int
    let byteLimit: Int
    let overflow: ServerLimits.HeldOverflow
    var isSuspended = false
    var discarded = 0
    private var entries: [Entry] = []
    /// For each discarded post, the observers that have not received the gap.
    private var lost: [[UInt32]] = []

    init(entryLimit: Int, byteLimit: Int, overflow: ServerLimits.HeldOverflow) {
        self.entryLimit = entryLimit
        self.byteLimit = byteLimit
        self.overflow = overflow
    }

    var entryCount: Int { entries.count }
    var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }

    mutating func setSuspended(_ flag: Bool) -> SuspensionOutcome {
        if flag {
            isSuspended = true
            return SuspensionOutcome()
        }
        isSuspended = false
        return flush()
    }

    mutating func unregister(_ registration: UInt32) {
        for index in entries.indices { entries[index].behaviors.removeAll { $0.registration == registration } }
        entries.removeAll { $0.behaviors.isEmpty }
        let wasTold = lost.contains { $0.contains(registration) }
        for index in lost.indices { lost[index].removeAll { $0 == registration } }
        if wasTold, lost.allSatisfy(\.isEmpty) { lost = [] }
    }

    mutating func decide(
        _ post: TestPost, observers: [MatchingObserver], immediately: Bool, spareBytes: Int
    ) -> SuspensionOutcome {
        let all = observers.map(\.registration)
        if observers.isEmpty { return SuspensionOutcome() }
        if !isSuspended { return deliver(post, all) }
        if immediately { return deliver(post, all) }
        let wanted = observers.filter { $0.behavior != .drop }
        if wanted.contains(where: { $0.behavior == .deliverImmediately }) {
            return deliver(post, wanted.map(\.registration))
        }
        if wanted.isEmpty { return SuspensionOutcome() }
        return hold(post, wanted, room: spareBytes + byteCount)
    }

    private mutating func hold(_ post: TestPost, _ wanted: [MatchingObserver], room: Int) -> SuspensionOutcome {
        let size = post.byteCount + 64 * wanted.count
        if entryLimit < 1 || size > byteLimit || size > room {
            if overflow == .deliver { return deliver(post, wanted.map(\.registration)) }
            lost.append(wanted.map(\.registration))
            discarded += 1
            return SuspensionOutcome()
        }
        for observer in wanted where observer.behavior == .coalesce {
            for index in entries.indices where entries[index].post.key == post.key {
                entries[index].behaviors.removeAll { $0.registration == observer.registration }
            }
        }
        entries.removeAll { $0.behaviors.isEmpty }
        var outcome = SuspensionOutcome()
        while entries.count + 1 > entryLimit || byteCount + size > byteLimit || byteCount + size > room {
            if overflow == .deliver {
                outcome = flush()
            } else {
                lost.append(entries.removeFirst().behaviors.map(\.registration))
                discarded += 1
            }
        }
        entries.append(
            Entry(post: post, behaviors: wanted.map { ($0.registration, $0.behavior) }, byteCount: size))
        return outcome
    }

    private mutating func deliver(_ post: TestPost, _ registrations: [UInt32]) -> SuspensionOutcome {
        var outcome = flush()
        outcome.deliveries.append(.init(post: post.number, registrations: registrations))
        return outcome
    }

    private mutating func flush() -> SuspensionOutcome {
        var outcome = SuspensionOutcome()
        if !lost.isEmpty { outcome.gap = lost.count }
        for registration in lost.flatMap(\.self) { outcome.gaps[registration, default: 0] += 1 }
        for entry in entries {
            outcome.deliveries.append(
                .init(post: entry.post.number, registrations: entry.behaviors.map(\.registration)))
        }
        entries = []
        lost = []
        return outcome
    }
}
