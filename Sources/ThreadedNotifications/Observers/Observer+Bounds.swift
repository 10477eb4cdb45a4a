// The deliveries that wait for an observer with an overflow policy (guarantee 12).

extension Observer {
    /// The delivery of an entry: itself, or that of a ticket.
    /// - Returns: nil if the overflow policy gave it up.
    func redeem(_ entry: Delivery) -> Delivery? {
        guard case .ticket(let number) = entry.content else { return entry }
        // Its key is released without the lock, because that calls foreign code.
        let held = bounded?.withLock { $0.take(number) }
        return held?.delivery
    }

    /// Holds a delivery, as far as the overflow policy allows.
    /// - Returns: the ticket to enqueue; or nil and the outcome.
    func hold(
        _ delivery: Delivery, of posted: Payload
    ) -> (ticket: Delivery?, outcome: DeliveryOutcome) {
        guard let bounded else { return (delivery, .waiting) }
        let policy = options.overflow
        let object = policy == .keepLatest ? NotificationObject(posted.object) : .none
        let key = policy == .keepLatest ? NotificationKey(name: posted.name, object: object) : nil
        while true {
            // Comparing keys calls foreign code, so it is done without the lock.
            let (candidates, version) = bounded.withLock { bounded in
                (key.map { bounded.candidates(hash: $0.hash) } ?? [], bounded.version)
            }
            let replacing = candidates.first { $0.key.isSame(asName: posted.name, object: object) }?.number
            let added = bounded.withLock {
                $0.add(delivery, policy, key: key, replacing: replacing, version: version)
            }
            switch added {
            case .mustCompareAgain: continue
            case .obsolete: return (nil, .coalesced)
            case .refused:
                if case .refuse = policy.rule { return (nil, .refused) }
                return (nil, .dropped)
            case .waits(let number, let displaced):
                if let displaced {
                    let outcome: DeliveryOutcome = policy == .keepLatest ? .coalesced : .dropped
                    settle(displaced.delivery, outcome, replacedBy: policy == .keepLatest ? delivery.post : 0)
                    ticketBecameStale()
                }
                return (Delivery(.ticket(number), for: self), .waiting)
            }
        }
    }

    /// A delivery was given up. If there are many such tickets, those of this observer are removed from the queue, so
    /// that its memory is bounded by what waits.
    private func ticketBecameStale() {
        let isDue =
            mailbox?.state.withLock { $0.pending.ticketBecameStale() }
            ?? tasks?.state.withLock { $0.pending.ticketBecameStale() }
        guard isDue == true, let bounded else { return }
        // The locks are not taken one inside the other. A number that is not held now is never held again.
        let (held, last) = bounded.withLock { ($0.heldNumbers, $0.lastNumber) }
        let isStale: (Delivery) -> Bool = { [self] delivery in
            guard case .ticket(let number) = delivery.content,
                delivery.observer?._withUnsafeGuaranteedRef({ $0 === self }) == true
            else {
                return false
            }
            return number <= last && !held.contains(number)
        }
        mailbox?.removeTickets(where: isStale)
        tasks?.state.withLock { $0.pending.removeTickets(where: isStale) }
    }
}
