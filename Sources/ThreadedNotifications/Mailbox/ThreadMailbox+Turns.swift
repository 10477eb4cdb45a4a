internal import Foundation

/// What a mailbox does for observers on the posting thread, whose deliveries of one post wait their turns there. All of it is
/// called on the target thread.
extension ThreadMailbox {
    /// Puts deliveries ahead of whatever is appended from now on.
    /// - Parameter areFirst: whether no handler is called before the first of them is delivered.
    /// - Returns: the place of the first; the others' follow.
    func hold(_ deliveries: [Delivery], areFirst: Bool) -> UInt64 {
        let (first, lanes) = state.withLock { ($0.pending.reservePlaces(deliveries.count), $0.lanes) }
        var entries: [Int: [Pending.Entry]] = [:]
        for (offset, delivery) in deliveries.enumerated() {
            let entry = Pending.Entry(place: first + UInt64(offset), content: .item(.delivery(delivery)))
            entries[delivery.registration.lane, default: []].append(entry)
        }
        for (lane, entries) in entries {
            taken.take(lane: lane) { $0 = entries }
            // A handler may run the run loop, which then finds the rest. It is this thread's, so nobody need be woken.
            if deliveries.count > 1 || !areFirst { lanes[lane].source.signal() }
        }
        return first
    }

    /// Delivers what was held at this place.
    /// - Returns: nil if it was delivered meanwhile, because a handler ran the run loop.
    func deliverHeld(at place: UInt64, lane: Int) -> PostOutcome? {
        guard let entry = taken.takeFirst(of: [lane], through: place),
            case .item(.delivery(let delivery)) = entry.content
        else { return nil }
        return delivery.registration.deliverAtOnce(delivery)
    }

    /// Whether something waits in a lane besides what this post holds there.
    func waits(before posted: PostedNotification, lane: Int) -> Bool {
        taken.hasEntry(before: posted.heldFrom, lane: lane) || !state.withLock { $0.pending.isEmpty(lane: lane) }
    }
}
