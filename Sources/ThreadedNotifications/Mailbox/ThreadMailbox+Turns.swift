internal import Foundation

/// What a mailbox does for observers on the posting thread, whose deliveries of one post wait their turns there. All of it is
/// called on the target thread.
extension ThreadMailbox {
    /// Puts turns ahead of whatever is appended from now on.
    /// - Parameters:
    ///   - turns: those of each lane, whose places are counted from 0.
    ///   - count: how many in all.
    ///   - waiting: lanes whose waiting deliveries are taken, to be delivered ahead of the turns.
    ///   - areFirst: whether no handler is called before the first of them has its turn.
    /// - Returns: the place of the first; the others' follow it.
    func hold(_ turns: [HeldTurns], count: Int, behind waiting: [Int], areFirst: Bool) -> UInt64 {
        let (first, lanes) = state.withLock { state in
            if !waiting.isEmpty { take(waiting, from: &state) }
            return (state.pending.reservePlaces(count), state.lanes)
        }
        for held in turns {
            held.firstPlace = first
            guard let place = held.nextPlace else { continue }
            taken.append(Pending.Entry(place: place, item: MailboxItem(.turns(held))), lane: held.lane)
            // A handler may run the run loop, which then finds the rest. It is this thread's, so nobody need be woken.
            if count > 1 || !areFirst { lanes[held.lane].source.signal() }
        }
        return first
    }

    /// Delivers what waits in these lanes ahead of a place that `hold` returned.
    func deliverWaiting(in lanes: [Int], before place: UInt64, _ context: ThreadContext) {
        context.nest("what waits here") {
            releaseHandlers()
            deliverTaken(from: lanes, before: place, context)
        }
    }

    /// Delivers what has its turn at this place.
    /// - Returns: nil if it had its turn already, because a handler ran the run loop.
    @inline(__always)
    func takeTurn(at place: UInt64, of held: HeldTurns, _ context: ThreadContext) -> DeliveryOutcome?? {
        guard held.nextPlace == place, taken.firstPlace(lane: held.lane) == place else { return nil }
        let observer = held.takeNext()
        if let next = held.nextPlace {
            taken.moveFirst(of: held.lane, to: next)
        } else {
            _ = taken.takeFirst(of: held.lane)
        }
        return observer._withUnsafeGuaranteedRef { $0.deliverAtOnce(held.notification, held.posted, context) }
    }

    /// Delivers the next of turns that a drain has taken.
    func deliverNext(of held: HeldTurns, _ context: ThreadContext) {
        guard let place = held.nextPlace else { return }
        let observer = held.takeNext().takeUnretainedValue()
        if let next = held.nextPlace {
            taken.putBack(Pending.Entry(place: next, item: MailboxItem(.turns(held))), lane: held.lane)
        }
        held.wasDrained(at: place, observer.deliverAtOnce(held.notification, held.posted, context))
    }

    /// The place that is used next.
    var nextPlace: UInt64 { state.withLock { $0.pending.nextPlace } }

    /// Whether something waits in a lane besides what this post has there.
    func waits(before posted: PostedNotification, lane: Int) -> Bool {
        taken.hasEntry(before: posted.firstPlace, lane: lane)
            || state.withLock { $0.pending.hasEntry(before: posted.firstPlace, lane: lane) }
    }
}
