@testable import DistributedNotifications
@testable import NotificationServer

/// The frames for a client, in a form that can be compared.
struct SuspensionOutcome: Hashable, CustomStringConvertible {
    struct Delivery: Hashable {
        var post: Int
        var registrations: [UInt32]
    }

    var gap = MissedPosts()
    var deliveries: [Delivery] = []

    var description: String {
        let shown = gap.registrations.sorted { $0.key < $1.key }.map { " \($0.key):\($0.value)" }.joined()
        return (gap.isEmpty ? "" : "gap of \(gap.count)\(shown); ")
            + deliveries.map { "\($0.post)→\($0.registrations)" }.joined(separator: " ")
    }
}

/// The rules of suspension, with lists that are looked through from end to end.
struct NaiveSuspension {
    private struct Entry {
        var post: Int
        var key: Character
        var observers: [MatchingObserver]
        var byteCount: Int
    }

    let limits: ServerLimits
    var isSuspended = false
    var counts = NotificationCounts()
    private var entries: [Entry] = []
    /// For each discarded post, the observers that have not received the gap.
    private var lost: [[UInt32]] = []

    init(_ limits: ServerLimits) {
        self.limits = limits
    }

    var entryCount: Int { entries.count }
    var byteCount: Int { entries.reduce(0) { $0 + $1.byteCount } }

    mutating func setSuspended(_ flag: Bool) -> SuspensionOutcome {
        isSuspended = flag
        return flag ? SuspensionOutcome() : flush()
    }

    mutating func unregister(_ registration: UInt32) {
        counts.removed += remove { $0.registration == registration }
        let wasTold = lost.contains { $0.contains(registration) }
        for index in lost.indices { lost[index].removeAll { $0 == registration } }
        if wasTold, lost.allSatisfy(\.isEmpty) { lost = [] }
    }

    /// - Returns: the number of entries without any observer left.
    private mutating func remove(key: Character? = nil, _ isRemoved: (MatchingObserver) -> Bool) -> Int {
        let before = entries.count
        for index in entries.indices where key == nil || entries[index].key == key {
            entries[index].observers.removeAll(where: isRemoved)
        }
        entries.removeAll { $0.observers.isEmpty }
        return before - entries.count
    }

    mutating func decide(
        _ post: Int, _ key: Character, byteCount size: Int, observers: [MatchingObserver], immediately: Bool,
        spareBytes: Int
    ) -> SuspensionOutcome {
        if observers.isEmpty { return SuspensionOutcome() }
        if !isSuspended || immediately { return deliver(post, observers) }
        let wanted = observers.filter { $0.behavior != .drop }
        if wanted.contains(where: { $0.behavior == .deliverImmediately }) { return deliver(post, wanted) }
        if wanted.isEmpty {
            counts.suppressed += 1
            return SuspensionOutcome()
        }
        let entry = Entry(post: post, key: key, observers: wanted, byteCount: size + 64 * wanted.count)
        return hold(entry, room: min(limits.heldBytesPerClient, spareBytes + byteCount))
    }

    private mutating func hold(_ entry: Entry, room: Int) -> SuspensionOutcome {
        if limits.heldEntriesPerClient < 1 || entry.byteCount > room {
            if limits.heldOverflow == .deliver { return deliver(entry.post, entry.observers) }
            lose(entry)
            return SuspensionOutcome()
        }
        let coalescing = entry.observers.filter { $0.behavior == .coalesce }
        counts.coalesced += remove(key: entry.key) { coalescing.contains($0) }
        var outcome = SuspensionOutcome()
        while entries.count >= limits.heldEntriesPerClient || byteCount + entry.byteCount > room {
            if limits.heldOverflow == .deliver { outcome = flush() } else { lose(entries.removeFirst()) }
        }
        entries.append(entry)
        return outcome
    }

    private mutating func lose(_ entry: Entry) {
        lost.append(entry.observers.map(\.registration))
        counts.discarded += 1
    }

    private mutating func deliver(_ post: Int, _ observers: [MatchingObserver]) -> SuspensionOutcome {
        var outcome = flush()
        outcome.deliveries.append(.init(post: post, registrations: observers.map(\.registration)))
        return outcome
    }

    private mutating func flush() -> SuspensionOutcome {
        var outcome = SuspensionOutcome(
            deliveries: entries.map { .init(post: $0.post, registrations: $0.observers.map(\.registration)) })
        outcome.gap.count = lost.count
        for registration in lost.flatMap(\.self) { outcome.gap.registrations[registration, default: 0] += 1 }
        (entries, lost) = ([], [])
        return outcome
    }
}
