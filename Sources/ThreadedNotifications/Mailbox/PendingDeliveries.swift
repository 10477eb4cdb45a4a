/// The entries that wait, first in, first out: the document's array, as a pure value.
///
///     empty ──append: wake──► waiting ──append: nothing──► waiting
///       ▲                         │
///       └────────── take ─────────┘
///
/// The thread is woken when an entry is appended while nothing waits. So a thread for which something waits was woken
/// after it last took everything, or looks for more.
///
/// Cost: constant on average. Entries that are taken together are a batch, which retains each of its observers once.
struct PendingDeliveries {
    private(set) var entries: [Delivery] = []
    private var owners: [Observer] = []
    /// The number of the batch that the entries belong to.
    private var batch: UInt64 = 1
    /// The number of tickets without a delivery.
    private var staleTickets = 0
    private var marks = 0

    var isEmpty: Bool { entries.isEmpty }
    /// False if only marks wait, which are no deliveries.
    var hasDeliveries: Bool { entries.count > marks }

    /// - Returns: whether the thread must be woken.
    mutating func append(_ delivery: consuming Delivery) -> Bool {
        if let observer = delivery.observer, observer._withUnsafeGuaranteedRef({ $0.batch != batch }) {
            observer._withUnsafeGuaranteedRef { $0.batch = batch }
            owners.append(observer.takeUnretainedValue())
        }
        if delivery.isMark { marks += 1 }
        entries.append(delivery)
        return entries.count == 1
    }

    /// Exchanges the entries that wait for those that were delivered.
    /// - Returns: the observers of those that were delivered.
    mutating func refill(_ taken: inout TakenDeliveries) -> [Observer] {
        batch += 1
        (staleTickets, taken.marks, marks) = (0, marks, 0)
        // The memory of a backlog is released.
        taken.entries.removeAll(keepingCapacity: taken.entries.capacity <= 4096)
        taken.next = 0
        swap(&entries, &taken.entries)
        swap(&owners, &taken.owners)
        defer { owners = [] }
        return owners
    }

    /// A bounded observer gave a delivery up.
    /// - Returns: whether there are so many such tickets that they should be removed.
    mutating func ticketBecameStale() -> Bool {
        staleTickets += 1
        guard staleTickets > 64, staleTickets > entries.count / 2 else { return false }
        staleTickets = 0
        return true
    }

    mutating func removeTickets(where isStale: (Delivery) -> Bool) { entries.removeAll(where: isStale) }
}

/// Entries that were taken and are not delivered yet: a pure value of the thread. Nested drains share it, so that the
/// inner one goes on where the outer one is.
struct TakenDeliveries {
    fileprivate var entries: [Delivery] = []
    fileprivate var owners: [Observer] = []
    fileprivate var marks = 0
    fileprivate var next = 0

    var isEmpty: Bool { next == entries.count }
    var hasDeliveries: Bool { entries.count - next > marks }

    mutating func takeFirst() -> Delivery? {
        guard next < entries.count else { return nil }
        // A move, because a copy would count references.
        var delivery = Delivery.nothing
        swap(&delivery, &entries[next])
        next += 1
        if delivery.isMark { marks -= 1 }
        return delivery
    }

    /// The observers of the entries, if all were delivered.
    mutating func takeOwners() -> [Observer] {
        guard isEmpty, !owners.isEmpty else { return [] }
        defer { owners = [] }
        return owners
    }
}
