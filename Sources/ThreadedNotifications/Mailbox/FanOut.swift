internal import Foundation

/// One post for several observers of the posting thread.
///
/// Each observer gets its position in the mailbox's order before any handler is called, so that everything that the
/// handlers post comes after this post for all of them (guarantee 4). A handler may run the run loop; its drain then
/// delivers to the remaining observers.
///
/// There is one object for each mode queue of the observers.
/// Threads: the posting thread, which is the target thread.
final class FanOut {
    private struct Slot {
        let observer: Observer
        /// Counted from the post's first sequence number.
        let offset: UInt64
    }

    let queue: Int
    private let notification: Notification
    private let post: Post
    /// The sequence number of the post's first slot, in whichever queue.
    private var firstNumber: UInt64 = 0
    // One thread uses both, and no access calls anything else. A check of each access would cost as much as beginning a
    // call.
    @exclusivity(unchecked) private var slots: [Slot] = []
    @exclusivity(unchecked) private var next = 0
    /// The outcomes of slots that a drain delivered, by sequence number.
    private var outcomes: [UInt64: DeliveryOutcome?] = [:]

    private init(_ notification: Notification, _ post: Post, queue: Int) {
        self.queue = queue
        self.notification = notification
        self.post = post
    }

    /// Delivers a post to all observers of the calling thread.
    static func deliver(
        _ notification: Notification, _ post: Post, to observers: ObserverSpan, _ context: ThreadContext,
        _ counters: inout DeliveryCounters
    ) {
        guard let mailbox = context.mailbox else { return }
        // First, because what a transform posts comes before the notification for the other observers too.
        var later: [(observer: Observer, delivery: Delivery)] = []
        observers.each { observer in
            guard observer.sameThread == .later, observer.isHere(context) else { return }
            let (delivery, outcome) = mailbox.delivery(of: notification, post.withoutWait, for: observer, context)
            if let delivery { later.append((observer, delivery)) } else { counters.count(outcome) }
        }
        // A post that waits comes after everything that can be delivered now, and delivers that first.
        let served = post.wait == nil ? [] : mailbox.servedQueues()
        let firstOwnNumber = mailbox.nextNumber
        var fanOuts: [FanOut] = []
        var waitingQueues: [Int] = []
        var count: UInt64 = 0
        var isFirst = true
        var callsFirstSlotFirst = false
        observers.each { observer in
            guard observer.sameThread != .later, observer.isHere(context) else { return }
            defer { isFirst = false }
            guard observer.sameThread == .ordered else { return }
            if !waitingQueues.contains(observer.modeQueue),
                let fanOut = fanOut(for: observer, in: mailbox, served, notification, post, context, &fanOuts)
            {
                fanOut.slots.append(Slot(observer: observer, offset: count))
                count += 1
                if isFirst { callsFirstSlotFirst = post.wait == nil }
            } else {
                if !waitingQueues.contains(observer.modeQueue) { waitingQueues.append(observer.modeQueue) }
                counters.count(mailbox.enqueue(notification, post, for: observer, context))
            }
        }
        var number = Drain.reserveNumbers(mailbox, count: Int(count), takingFirst: served, context)
        for fanOut in fanOuts {
            fanOut.firstNumber = number
            guard let first = fanOut.nextNumber else { continue }
            context.drainState.taken.append(
                MailboxState.Pending.Entry(number: first, item: Delivery(.fanOut(fanOut))), to: fanOut.queue)
            // A handler may run the run loop, which must then deliver the rest.
            if count > 1 || !callsFirstSlotFirst { mailbox.signalItself(fanOut.queue) }
        }
        // After the numbers of the others, because these entries are not among the deliveries that the others wait for.
        for (observer, delivery) in later {
            counters.count(
                mailbox.enqueue(delivery, object: notification.object, at: post.location, for: observer, context))
        }
        if post.wait != nil { Drain.deliverWaiting(mailbox, in: served, before: number, context) }
        observers.each { observer in
            guard observer.isHere(context) else { return }
            switch observer.sameThread {
            case .later: break
            case .atOnce:
                counters.count(
                    observer.withMailbox {
                        $0.deliverAtOnce(notification, post, to: observer, ownNumbersFrom: firstOwnNumber, context)
                    } ?? ObserverCall.runAtOnce(observer, with: notification, of: post, context))
            case .ordered:
                guard let fanOut = fanOuts.first(where: { $0.queue == observer.modeQueue }) else { return }
                counters.count(fanOut.deliverSlot(number, context))
                number += 1
            }
        }
    }

    /// The fan-out for an observer's mode queue; nil if deliveries in that queue have to wait.
    @inline(__always)
    private static func fanOut(
        for observer: Observer, in mailbox: ThreadMailbox, _ served: [Int], _ notification: Notification, _ post: Post,
        _ context: ThreadContext, _ fanOuts: inout [FanOut]
    ) -> FanOut? {
        let queue = observer.modeQueue
        if let known = fanOuts.first(where: { $0.queue == queue }) { return known }
        guard post.wait == nil ? mailbox.isReady(queue, context) : served.contains(queue) else { return nil }
        let new = FanOut(notification, post, queue: queue)
        fanOuts.append(new)
        return new
    }

    /// The sequence number of the next slot; nil after the last one.
    private var nextNumber: UInt64? { next < slots.count ? firstNumber + slots[next].offset : nil }

    /// Delivers to the slot with this number, unless a drain did.
    /// - Returns: the slot's outcome.
    @inline(__always)
    private func deliverSlot(_ number: UInt64, _ context: ThreadContext) -> DeliveryOutcome? {
        guard nextNumber == number, context.drainState.taken.firstNumber(of: queue) == number else {
            // Slots are delivered in order, and no entry comes before this one. So a nested drain has delivered it.
            guard let outcome = outcomes[number] else {
                preconditionFailure(
                    "ThreadedNotificationCenter: a notification \(notification.name.rawValue) was not delivered. This is a "
                        + "defect of this package.")
            }
            return outcome
        }
        let observer = takeNext()
        if let next = nextNumber {
            context.drainState.taken.renumberFirst(of: queue, to: next)
        } else {
            _ = context.drainState.taken.takeFirst(of: queue)
        }
        return observer._withUnsafeGuaranteedRef {
            ObserverCall.runAtOnce($0, with: notification, of: post, context)
        }
    }

    /// Delivers to the next slot. A drain has taken the entry.
    func deliverNext(_ context: ThreadContext) {
        guard let number = nextNumber else { return }
        let observer = takeNext()
        if let next = nextNumber {
            context.drainState.taken.putBack(
                MailboxState.Pending.Entry(number: next, item: Delivery(.fanOut(self))), to: queue)
        }
        outcomes[number] = .some(
            observer._withUnsafeGuaranteedRef {
                ObserverCall.runAtOnce($0, with: notification, of: post, context)
            })
    }

    /// The observer is retained by its slot.
    @inline(__always)
    private func takeNext() -> Unmanaged<Observer> {
        next += 1
        return .passUnretained(slots[next - 1].observer)
    }

    /// The thread ends before the remaining slots were delivered.
    /// - Returns: their number.
    func targetIsGone(_ reason: DeliveryEvent.Reason?) -> Int {
        defer { next = slots.count }
        for slot in slots[next...] {
            slot.observer.counters.countPosted()
            ObserverCall.resolve(
                slot.observer, .targetGone, notification.name, post: post.number, wait: post.wait, reason: reason)
        }
        return slots.count - next
    }
}
