internal import Foundation

/// One post, and its way to the observers that match: first to other threads, so that what a handler on this thread posts does
/// not overtake it there; then to those on this thread, in registration order.
struct PostedNotification {
    let notification: Notification
    let object: NotificationObject
    /// Of the post, in events; 0 if nobody traces.
    let number: UInt64
    /// Who waits for its deliveries. Then what waits on this thread is delivered first, and this afterwards.
    let wait: DeliveryWait?
    /// Where it was posted.
    let place: SourcePlace
    /// From which place on the target thread's mailbox holds deliveries of this post; `max` if it holds none.
    private(set) var heldFrom = UInt64.max

    init(
        notification: Notification, object: NotificationObject, number: UInt64, wait: DeliveryWait?, place: SourcePlace
    ) {
        self.notification = notification
        self.object = object
        self.number = number
        self.wait = wait
        self.place = place
    }

    /// - Parameters:
    ///   - observers: those that match.
    ///   - whenCancelled: told of observers that were found removed.
    mutating func deliver(to observers: [Registration?], whenCancelled: (Registration) -> Void) -> PostReport {
        var report = PostReport()
        func count(_ outcome: PostOutcome, _ observer: Registration) {
            if case .cancelled = outcome { whenCancelled(observer) }
            report.count(outcome)
        }
        let current = ThreadContext.current.mailbox
        var (here, inOrder) = (0, 0)
        for case let observer? in observers {
            if let mailbox = observer.mailbox, mailbox !== current {
                count(observer.post(self), observer)
            } else {
                here += 1
                if observer.mailbox != nil, observer.options.sameThread == .ordered { inOrder += 1 }
            }
        }
        if here == 0 { return report }
        if wait != nil, inOrder > 0 { current?.deliverWaiting() }
        // Who is alone here needs no turn: nobody's handler comes before.
        let turns = inOrder > 0 && (here > 1 || wait != nil) ? holdTurns(of: observers, in: current) : []
        var next = 0
        for case let observer? in observers {
            guard observer.mailbox == nil || observer.mailbox === current else { continue }
            if next < turns.count, turns[next].observer === observer {
                count(takeTurn(turns[next], in: current), observer)
                next += 1
            } else {
                count(observer.post(self), observer)
            }
        }
        return report
    }

    /// An observer on this thread whose handler is called before this post returns.
    private struct Turn {
        var observer: Registration
        var step: Step

        enum Step {
            case deliver(Delivery)
            case held(at: UInt64)
            case over(PostOutcome)
        }
    }

    /// Has the observers on this thread wait their turns in its mailbox, if they may be called now: there what their handlers
    /// post comes after them, also if a handler runs the run loop.
    private mutating func holdTurns(of observers: [Registration?], in mailbox: ThreadMailbox?) -> [Turn] {
        guard let mailbox else { return [] }
        var turns: [Turn] = []
        for case let observer? in observers
        where observer.mailbox === mailbox && observer.options.sameThread == .ordered
            && (wait != nil || mailbox.isReady(for: observer.lane))
        {
            let step: Turn.Step =
                switch observer.prepare(self) {
                case .success(let delivery): .deliver(delivery)
                case .failure(let unprepared): .over(unprepared.outcome)
                }
            turns.append(Turn(observer: observer, step: step))
        }
        let deliveries = turns.compactMap { if case .deliver(let delivery) = $0.step { delivery } else { nil } }
        let firstHere = observers.lazy.compactMap(\.self).first { $0.mailbox == nil || $0.mailbox === mailbox }
        var place = mailbox.hold(deliveries, areFirst: firstHere === turns.first?.observer)
        heldFrom = place
        for index in turns.indices {
            guard case .deliver = turns[index].step else { continue }
            turns[index].step = .held(at: place)
            place += 1
        }
        return turns
    }

    private func takeTurn(_ turn: Turn, in mailbox: ThreadMailbox?) -> PostOutcome {
        switch turn.step {
        case .over(let outcome): outcome
        case .held(let place):
            // Nil: a handler ran the run loop, where this had its turn.
            mailbox?.deliverHeld(at: place, lane: turn.observer.lane)
                ?? (turn.observer.isCancelled ? .cancelled : .delivered)
        case .deliver: .delivered
        }
    }
}
