/// What waits, first in, first out: the document's array, as a pure value.
///
///     empty ──append: wake──► waiting ──append: nothing──► waiting
///       ▲                         │
///       └────────── take ─────────┘
///
/// The thread is woken when an entry is appended while nothing waits. So a thread for which something waits was woken
/// after it last took everything.
///
/// Cost: constant on average. What is taken together is a batch, and retains each of its observers once.
struct PendingDeliveries {
    private(set) var entries: [Delivery] = []
    private var owners: [Observer] = []
    /// The number of the batch that the entries belong to.
    private var batch: UInt64 = 1
    /// The number of tickets whose delivery is gone.
    private var staleTickets = 0
    private var marks = 0

    var isEmpty: Bool { entries.isEmpty }
    /// False if only marks wait, which are no deliveries.
    var hasDeliveries: Bool { entries.count > marks }

    /// - Returns: whether the thread must be woken.
    mutating func append(_ delivery: consuming Delivery) -> Bool {
        if let observer = delivery.observer, observer._withUnsafeGuaranteedRef({ $0.enters(batch: batch) }) {
            owners.append(observer.takeUnretainedValue())
        }
        if delivery.isMark { marks += 1 }
        entries.append(delivery)
        return entries.count == 1
    }

    /// Exchanges what waits for what was delivered.
    /// - Returns: the observers of what was delivered.
    mutating func refill(_ taken: inout TakenDeliveries) -> [Observer] {
        batch += 1
        staleTickets = 0
        return taken.refill(from: &entries, retainedBy: &owners, &marks)
    }

    /// A bounded observer gave a delivery up. If many did, their tickets are removed, so that the memory is bounded by
    /// what waits.
    /// - Parameter isStale: tells whether an entry is such a ticket.
    mutating func ticketBecameStale(_ isStale: (Delivery) -> Bool) {
        staleTickets += 1
        guard staleTickets > 64, staleTickets > entries.count / 2 else { return }
        staleTickets = 0
        entries.removeAll(where: isStale)
    }
}

/// What was taken and not delivered yet: a pure value of the thread. Nested drains share it, so that the inner one goes
/// on where the outer one is.
struct TakenDeliveries {
    private var entries: [Delivery] = []
    private var owners: [Observer] = []
    private var marks = 0
    private var next = 0

    var isEmpty: Bool { next == entries.count }
    var hasDeliveries: Bool { entries.count - next > marks }

    /// Exchanges the entries, which were all delivered, for those that wait.
    /// - Returns: the observers of the entries that were delivered.
    fileprivate mutating func refill(
        from pending: inout [Delivery], retainedBy pendingOwners: inout [Observer], _ pendingMarks: inout Int
    ) -> [Observer] {
        // The memory of a backlog is released.
        entries.removeAll(keepingCapacity: entries.capacity <= 4096)
        next = 0
        swap(&entries, &pending)
        swap(&owners, &pendingOwners)
        (marks, pendingMarks) = (pendingMarks, 0)
        defer { pendingOwners = [] }
        return pendingOwners
    }

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
