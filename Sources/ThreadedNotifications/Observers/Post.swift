internal import Foundation

/// One post, and its way to the observers that match: first to other threads, so that what a handler on this thread posts does
/// not overtake it there; then to those on this thread, in registration order.
struct PostedNotification {
    /// Of the post, in events; 0 if nobody traces.
    let number: UInt64
    /// Who waits for its deliveries. Then what waits on this thread is delivered first, and this afterwards.
    let wait: DeliveryWait?
    /// Where it was posted.
    let place: SourceLocation
    /// Of its deliveries in the posting thread's mailbox none has a place before this; `max` if there are none.
    private(set) var firstPlace = UInt64.max

    init(number: UInt64, wait: DeliveryWait?, place: SourceLocation) {
        self.number = number
        self.wait = wait
        self.place = place
    }

    /// - Parameters:
    ///   - observers: those that match.
    ///   - context: the calling thread's.
    ///   - center: of which those are to be removed that were found removed.
    @inline(__always)
    func deliver(
        _ notification: Notification, to observers: FoundObservers, _ context: ThreadContext,
        of center: ThreadedNotificationCenter
    ) -> DeliveryCounters {
        var report = DeliveryCounters()
        var (here, inOrder) = (0, 0)
        observers.each { observer in
            if observer.isHere(context) {
                here += 1
                if observer.isInOrder { inOrder += 1 }
            } else {
                report.count(observer.post(notification, self, context), of: observer, in: center)
            }
        }
        guard here > 0 else { return report }
        // Who is alone here needs no turn: nobody's handler comes before.
        if inOrder > 0, here > 1 || wait != nil {
            takeTurns(notification, observers, context, center, &report)
        } else {
            observers.each { observer in
                guard observer.isHere(context) else { return }
                report.count(observer.post(notification, self, context), of: observer, in: center)
            }
        }
        return report
    }

    /// Has the observers on this thread wait their turns in its mailbox, if they may be called now: there what their handlers
    /// post comes after them, also if a handler runs the run loop.
    private func takeTurns(
        _ notification: Notification, _ observers: FoundObservers, _ context: ThreadContext,
        _ center: ThreadedNotificationCenter, _ report: inout DeliveryCounters
    ) {
        guard let mailbox = context.mailbox else { return }
        // A post that waits takes its place behind what waits here, and delivers that first.
        let deliverable = wait == nil ? [] : mailbox.deliverableLanes()
        var posted = self
        posted.firstPlace = mailbox.nextPlace
        var turns: [HeldTurns] = []
        var waitingLanes: [Int] = []
        var count = 0
        var isFirst = true
        var areFirst = false
        // Each observer takes its place, in its turn or in the mailbox, before any handler is called: what a handler
        // posts comes after this notification for all of them.
        observers.each { observer in
            guard observer.isHere(context) else { return }
            defer { isFirst = false }
            guard observer.isInOrder else { return }
            if !waitingLanes.contains(observer.lane),
                let held = self.turns(of: observer, in: mailbox, deliverable, notification, context, &turns)
            {
                held.add(observer, place: UInt64(count))
                count += 1
                if isFirst { areFirst = wait == nil }
            } else {
                if !waitingLanes.contains(observer.lane) { waitingLanes.append(observer.lane) }
                report.count(mailbox.append(notification, self, for: observer, context), of: observer, in: center)
            }
        }
        var place = mailbox.hold(turns, count: count, behind: deliverable, areFirst: areFirst)
        if wait != nil { mailbox.deliverWaiting(in: deliverable, before: place, context) }
        observers.each { observer in
            guard observer.isHere(context) else { return }
            let outcome: DeliveryOutcome?
            if !observer.isInOrder {
                outcome = observer.post(notification, posted, context)
            } else if let held = turns.first(where: { $0.lane == observer.lane }) {
                // Nil: a handler ran the run loop, where this had its turn.
                outcome = mailbox.takeTurn(at: place, of: held, context) ?? held.outcome(at: place)
                place += 1
            } else {
                return
            }
            report.count(outcome, of: observer, in: center)
        }
    }

    /// - Parameters:
    ///   - deliverable: for a post that waits, the lanes that the run loop serves in its mode.
    ///   - turns: those of each lane whose observers may be called now.
    /// - Returns: those of the observer's lane; nil if it has to wait.
    @inline(__always)
    private func turns(
        of observer: Registration, in mailbox: ThreadMailbox, _ deliverable: [Int], _ notification: Notification,
        _ context: ThreadContext, _ turns: inout [HeldTurns]
    ) -> HeldTurns? {
        if let known = turns.first(where: { $0.lane == observer.lane }) { return known }
        guard wait == nil ? mailbox.isReady(for: observer.lane, context) : deliverable.contains(observer.lane)
        else { return nil }
        let new = HeldTurns(notification, self, lane: observer.lane)
        turns.append(new)
        return new
    }
}

extension DeliveryCounters {
    @inline(__always)
    fileprivate mutating func count(
        _ outcome: DeliveryOutcome?, of observer: Registration, in center: ThreadedNotificationCenter
    ) {
        guard let outcome else { return }
        if outcome == .cancelled { center.remove(observer) }
        count(outcome)
    }
}
