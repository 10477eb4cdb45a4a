internal import Foundation

/// One post for several observers of the posting thread.
///
/// Each observer gets its position in the mailbox's order before any handler is called, so that everything that the
/// handlers post comes after this post for all of them (guarantee 4). A handler may run the run loop; its drain then
/// delivers to the remaining observers. For that, each mode queue of the observers has one entry, with the position of
/// the first observer of that queue that has not been called.
///
/// Threads: the posting thread, which is the target thread.
final class FanOut {
    private struct Slot {
        /// The post retains it, also if a handler ends the thread: in the thread's cache, or in a list on its stack.
        let observer: Unmanaged<Observer>
        /// Nil: it has no position, and drains do not deliver to it.
        let queue: Int?
        /// The next slot of the same queue.
        var following: Int?
        var isDelivered = false
        /// The outcome of a slot that a drain delivered.
        var outcome: DeliveryOutcome?
    }

    private let notification: Notification
    private let post: Post
    // One thread uses these, and no access calls anything else. A check of each access would cost as much as beginning
    // a call.
    @exclusivity(unchecked) private var slots: [Slot] = []
    /// The sequence number of the first slot.
    @exclusivity(unchecked) private var firstNumber: UInt64 = 0
    @exclusivity(unchecked) private var hasSeveralQueues = false

    private init(_ notification: Notification, _ post: Post, capacity: Int) {
        self.notification = notification
        self.post = post
        slots.reserveCapacity(capacity)
    }

    /// Delivers a post to all observers of the calling thread.
    static func deliver(
        _ notification: Notification, _ post: Post, to observers: ObserverSpan, _ context: ThreadContext,
        _ counters: inout DeliveryCounters
    ) {
        guard let mailbox = context.mailbox else { return }
        // First, because what a transform posts comes before the notification for the other observers too.
        var later: [(observer: Observer, delivery: Delivery)] = []
        var hasAtOnce = false
        observers.each { observer in
            if observer.sameThread == .atOnce { hasAtOnce = true }
            guard observer.sameThread == .later, observer.isHere(context) else { return }
            let (delivery, outcome) = mailbox.delivery(of: notification, post.withoutWait, for: observer, context)
            if let delivery { later.append((observer, delivery)) } else { counters.count(outcome) }
        }
        // A post that waits comes after everything that can be delivered now, and delivers that first.
        let served = post.wait == nil ? [] : mailbox.servedQueues()
        let firstOwnNumber = hasAtOnce ? mailbox.nextNumber : .max
        let fanOut = FanOut(notification, post, capacity: observers.count)
        var waitingQueues: [Int] = []
        observers.each { observer in
            guard observer.sameThread != .later, observer.isHere(context) else { return }
            let queue = observer.modeQueue
            if observer.sameThread == .atOnce {
                fanOut.append(observer, queue: nil)
            } else if fanOut.append(observer, ifHas: queue) {
                return
            } else if !waitingQueues.contains(queue),
                post.wait == nil ? mailbox.isReady(queue, context) : served.contains(queue)
            {
                fanOut.append(observer, queue: queue)
            } else {
                if !waitingQueues.contains(queue) { waitingQueues.append(queue) }
                counters.count(mailbox.enqueue(notification, post, for: observer, context))
            }
        }
        let number = Drain.reserveNumbers(mailbox, count: fanOut.slots.count, takingFirst: served, context)
        let preceded = fanOut.appendEntries(from: number, to: mailbox, context)
        // After the numbers of the others, because these entries are not among the deliveries that the others wait for.
        for (observer, delivery) in later {
            counters.count(
                mailbox.enqueue(delivery, object: notification.object, at: post.location, for: observer, context))
        }
        let earlier = post.wait == nil ? preceded : served
        if !earlier.isEmpty { Drain.deliverWaiting(mailbox, in: earlier, before: number, context) }
        fanOut.deliverRemaining(ownNumbersFrom: firstOwnNumber, context, &counters)
    }

    // MARK: Slots

    /// - Parameter queue: nil if the observer has no position; else a queue that has no slot yet.
    private func append(_ observer: Observer, queue: Int?) {
        if queue != nil, slots.contains(where: { $0.queue != nil }) { hasSeveralQueues = true }
        slots.append(Slot(observer: .passUnretained(observer), queue: queue))
    }

    /// Appends an observer if its queue has a slot.
    @inline(__always)
    private func append(_ observer: Observer, ifHas queue: Int) -> Bool {
        guard let last = slots.lastIndex(where: { $0.queue == queue }) else { return false }
        slots[last].following = slots.count
        slots.append(Slot(observer: .passUnretained(observer), queue: queue))
        return true
    }

    /// Adds an entry for the first slot of each queue.
    /// - Returns: the queues in which earlier entries were taken and wait. There are some if the transform of an
    ///   observer ran the run loop, and the budget of that drain was spent.
    private func appendEntries(from number: UInt64, to mailbox: ThreadMailbox, _ context: ThreadContext) -> [Int] {
        firstNumber = number
        var queues: Set<Int> = []
        var preceded: [Int] = []
        for index in slots.indices {
            guard let queue = slots[index].queue, !hasSeveralQueues || queues.insert(queue).inserted else { continue }
            if !context.drainState.taken.isEmpty(queue) { preceded.append(queue) }
            context.drainState.taken.append(entry(for: index), to: queue)
            // A handler may run the run loop, which must then deliver the rest.
            if index > 0 || slots[index].following != nil || post.wait != nil { mailbox.signalItself(queue) }
            if !hasSeveralQueues { break }
        }
        return preceded
    }

    private func number(of index: Int) -> UInt64 { firstNumber + UInt64(index) }

    private func entry(for index: Int) -> MailboxState.Pending.Entry {
        MailboxState.Pending.Entry(number: number(of: index), item: Delivery(.fanOut(self, slot: index)))
    }

    // MARK: Delivering

    /// Delivers to the slots to which no drain has delivered.
    private func deliverRemaining(
        ownNumbersFrom firstOwnNumber: UInt64, _ context: ThreadContext, _ counters: inout DeliveryCounters
    ) {
        for index in slots.indices {
            guard !slots[index].isDelivered else {
                counters.count(slots[index].outcome)
                continue
            }
            slots[index].isDelivered = true
            let outcome: DeliveryOutcome?
            if let queue = slots[index].queue {
                // The entry is the first of its queue: everything before it was delivered.
                if let following = slots[index].following {
                    if hasSeveralQueues {
                        context.drainState.taken.renumberFirst(of: queue, to: number(of: following))
                    }
                } else {
                    _ = context.drainState.taken.takeFirst(of: queue)
                }
                outcome = call(index, context)
            } else {
                outcome = slots[index].observer._withUnsafeGuaranteedRef { observer in
                    observer.withMailbox {
                        $0.deliverAtOnce(notification, post, to: observer, ownNumbersFrom: firstOwnNumber, context)
                    } ?? ObserverCall.runAtOnce(observer, with: notification, of: post, context)
                }
            }
            counters.count(outcome)
        }
    }

    /// Delivers to the next slot of a queue. A drain has taken the queue's entry.
    /// - Parameter slot: the one that the entry names. If it was delivered already, the next one is meant.
    func deliverNext(from slot: Int, _ context: ThreadContext) {
        guard let index = firstUndelivered(from: slot), let queue = slots[index].queue else { return }
        slots[index].isDelivered = true
        if let following = slots[index].following {
            context.drainState.taken.putBack(entry(for: following), to: queue)
            // The handler may run the run loop too.
            context.withMailbox { $0.signalItself(queue) }
        }
        let outcome = call(index, context)
        slots[index].outcome = outcome
    }

    private func firstUndelivered(from slot: Int) -> Int? {
        var index: Int? = slot
        while let found = index, slots[found].isDelivered { index = slots[found].following }
        return index
    }

    @inline(__always)
    private func call(_ index: Int, _ context: ThreadContext) -> DeliveryOutcome? {
        slots[index].observer._withUnsafeGuaranteedRef {
            ObserverCall.runAtOnce($0, with: notification, of: post, context)
        }
    }

    /// The thread ends before the remaining slots of a queue were delivered.
    /// - Returns: their number.
    func targetIsGone(from slot: Int, _ reason: DeliveryEvent.Reason?) -> Int {
        var count = 0
        while let index = firstUndelivered(from: slot) {
            slots[index].isDelivered = true
            count += 1
            let observer = slots[index].observer.takeUnretainedValue()
            observer.counters.countPosted()
            ObserverCall.resolve(
                observer, .targetGone, notification.name, post: post.number, wait: post.wait, reason: reason)
        }
        return count
    }
}
