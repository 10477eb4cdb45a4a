/// Empties a mailbox on its thread: takes the entries, and delivers them in order.
///
/// Drains may be nested, because a handler may run the run loop. They share `DrainState`, so that the inner drain
/// continues where the outer one stopped.
/// Threads: the target thread. Nothing here retains its context: a handler may end the thread.
enum Drain {
    // MARK: Beginning

    /// Called by the run loop after a signal, and by `MailboxEvent`: delivers what waits, as far as the thread's budget
    /// allows, and watches for more if the thread spins.
    static func run(_ mailbox: ThreadMailbox, signalled queue: Int) {
        ThreadContext.withCurrent { context in
            guard context.drainState.spinner != nil, context.drainState.depth == 0 else {
                var slice: DrainSlice?
                _ = run(mailbox, queue, &slice, context)
                return
            }
            context.drainState.spinner?.wasWoken()
            let begin = SystemThread.monotonicNanoseconds
            var slice: DrainSlice?
            repeat {} while run(mailbox, queue, &slice, context) && watch(mailbox, queue, since: begin, context)
        }
    }

    /// Delivers everything that waits in the run loop's current mode.
    static func runServed(_ mailbox: ThreadMailbox) {
        ThreadContext.withCurrent { context in
            var slice: DrainSlice? = .unbounded
            context.nest("a waiting delivery") { _ = run(mailbox, mailbox.servedQueues(), &slice, context) }
        }
    }

    /// Performs a block after everything that waits in the run loop's current mode. Entries from the handlers come
    /// after the block.
    static func perform(_ block: PerformedBlock, _ mailbox: ThreadMailbox) {
        ThreadContext.withCurrent { context in
            let queues = mailbox.servedQueues()
            let number = reserveNumbers(mailbox, count: 1, takingFirst: queues, context)
            if queues.contains(0) {
                context.drainState.taken.append(
                    MailboxState.Pending.Entry(number: number, item: Delivery(.performed(block))), to: 0)
                // A handler may run the run loop, which then performs the block.
                mailbox.signalItself(0)
            }
            context.nest("a block") {
                mailbox.releaseOwned()
                deliverAllTaken(mailbox, from: queues, before: number + 1, context)
                // In a mode that is not a common mode the block has no entry.
                block.perform()
            }
        }
    }

    /// Takes what waits in queues, and reserves sequence numbers for entries that come after it.
    /// - Returns: the first of the numbers.
    static func reserveNumbers(
        _ mailbox: ThreadMailbox, count: Int, takingFirst queues: [Int], _ context: ThreadContext
    ) -> UInt64 {
        mailbox.state.lock()
        defer { mailbox.state.unlock() }
        if !queues.isEmpty { take(queues, of: mailbox, context) }
        return mailbox.state.valueWhileLocked.pending.reserveNumbers(count)
    }

    /// Delivers what was taken and has a smaller number than those that `reserveNumbers` reserved.
    static func deliverWaiting(
        _ mailbox: ThreadMailbox, in queues: [Int], before number: UInt64, _ context: ThreadContext
    ) {
        context.nest("a waiting delivery") {
            mailbox.releaseOwned()
            deliverAllTaken(mailbox, from: queues, before: number, context)
        }
    }

    private static func run(
        _ mailbox: ThreadMailbox, _ queue: Int, _ slice: inout DrainSlice?, _ context: ThreadContext
    ) -> Bool {
        if mailbox.state.withLock({ $0.modeQueues.count == 1 }) {
            return run(mailbox, CollectionOfOne(queue), &slice, context)
        }
        let queues = mailbox.state.withLock { $0.modeQueues }
        if let continuing = context.drainState.continuingQueue, continuing != queue,
            queues[continuing].source.isDeliverableNow
        {
            // The budget is of all queues: what ended a drain in this pass of the run loop continues in the next pass.
            queues[queue].source.signal()
            return false
        }
        // A handler may run the run loop, whose drains may come from any queue.
        context.drainState.continuingQueue = nil
        let isOver = run(
            mailbox, queues.indices.filter { $0 == queue || queues[$0].source.isDeliverableNow }, &slice, context)
        context.drainState.continuingQueue = isOver ? nil : queue
        if !isOver { queues[queue].source.signal() }
        return isOver
    }

    /// Delivers the entries of these queues. Entries that are enqueued meanwhile are signalled again.
    /// - Parameter slice: what may be delivered; nil: the thread's budget, which is stored here.
    /// - Returns: false if the budget is spent and entries remain. Their queues are signalled.
    @inline(__always)
    private static func run(
        _ mailbox: ThreadMailbox, _ queues: some Collection<Int> & Sendable, _ slice: inout DrainSlice?,
        _ context: ThreadContext
    ) -> Bool {
        mailbox.state.lock()
        take(queues, of: mailbox, context)
        let toRelease = mailbox.state.valueWhileLocked.takeAllToRelease()
        var left = slice ?? mailbox.state.valueWhileLocked.wholeSlice
        mailbox.state.unlock()
        for owned in toRelease { owned.release() }
        if slice == nil, context.drainState.deadline != 0 {
            let now = SystemThread.monotonicNanoseconds
            // Not less than a millisecond, because a handler may run the run loop for long.
            left.limit(to: max(context.drainState.deadline, now + 1_000_000) - now)
        }
        defer { slice = left }
        return deliverTaken(mailbox, from: queues, before: .max, &left, context)
    }

    // MARK: Taking

    /// Takes what is pending in these queues. The caller holds the lock.
    @inline(__always)
    private static func take(
        _ queues: some Collection<Int> & Sendable, of mailbox: ThreadMailbox, _ context: ThreadContext
    ) {
        context.drainState.taken.handOutEmpty { mailbox.state.valueWhileLocked.pending.reuse(&$0) }
        for queue in queues {
            context.drainState.taken.take(queue) {
                mailbox.state.valueWhileLocked.pending.takeAll(of: queue, into: &$0)
            }
        }
        mailbox.arrivals.set(to: mailbox.state.valueWhileLocked.pending.waitingQueues > 0)
    }

    /// Watches for more instead of returning to the run loop, which would sleep.
    /// - Returns: whether entries are pending in the queue.
    private static func watch(
        _ mailbox: ThreadMailbox, _ queue: Int, since begin: UInt64, _ context: ThreadContext
    ) -> Bool {
        let start = SystemThread.monotonicNanoseconds
        guard !context.drainState.burstDetector.isBurst,
            let limit = context.drainState.spinner?.timeLimit(since: begin, now: start)
        else { return false }
        let isPending: Bool? = mailbox.state.withLock { state in
            guard state.pending.isEmpty(queue) else { return true }
            guard state.phase == .open else { return false }
            state.watchedQueue = queue
            return nil
        }
        if let isPending { return isPending }
        let spent = context.drainState.spinner?.watch(mailbox.arrivals, from: start, for: limit) ?? 0
        let isFound = mailbox.state.withLock { state in
            state.watchedQueue = nil
            return !state.pending.isEmpty(queue)
        }
        context.drainState.spinner?.finish(found: isFound, after: spent)
        return isFound
    }

    // MARK: Delivering

    private static func deliverAllTaken(
        _ mailbox: ThreadMailbox, from queues: [Int], before end: UInt64, _ context: ThreadContext
    ) {
        var slice = DrainSlice.unbounded
        _ = deliverTaken(mailbox, from: queues, before: end, &slice, context)
    }

    /// Delivers the taken entries of these queues that have a sequence number before `end`, in order.
    /// - Returns: false if `slice` allows no more and entries remain.
    @inline(__always)
    private static func deliverTaken(
        _ mailbox: ThreadMailbox, from queues: some Collection<Int> & Sendable, before end: UInt64,
        _ slice: inout DrainSlice, _ context: ThreadContext
    ) -> Bool {
        DeliveryEvent.trace(.drain)
        let hasMoreThanOne = context.drainState.taken.hasMoreThanOne(in: queues)
        context.drainState.burstDetector.drained(moreThanOne: hasMoreThanOne)
        // A handler may run the run loop, which must then deliver the rest.
        if hasMoreThanOne {
            signalTaken(mailbox, queues, context)
            slice.begins(at: SystemThread.monotonicNanoseconds)
        }
        context.drainState.depth += 1
        defer { context.drainState.depth -= 1 }
        while let queue = context.drainState.taken.firstQueue(of: queues, before: end) {
            guard slice.allowsAnother(at: SystemThread.monotonicNanoseconds) else {
                // The next drain continues. A nested run of the run loop may have used up the signal.
                signalTaken(mailbox, queues, context)
                return false
            }
            deliver(context.drainState.taken.takeFirst(of: queue, in: context.drainState.depth), mailbox, context)
            if context.drainState.taken.hasExhausted { releaseExhausted(context) }
        }
        return true
    }

    @inline(__always)
    private static func deliver(
        _ entry: MailboxState.Pending.Entry, _ mailbox: ThreadMailbox, _ context: ThreadContext
    ) {
        guard entry.holder == 0 else {
            return deliverHeld(by: entry.holder, number: entry.number, mailbox, context)
        }
        deliver(entry.item, context)
    }

    @inline(__always)
    private static func deliver(_ delivery: Delivery, _ context: ThreadContext) {
        if delivery.withObserver({ ObserverCall.run($0, with: delivery, context) }) { return }
        perform(delivery, context)
    }

    @inline(never)
    private static func perform(_ delivery: Delivery, _ context: ThreadContext) {
        switch delivery.action {
        case .block(let block): context.perform(block, post: delivery.post, wait: nil)
        case .fanOut(let fanOut, let slot): fanOut.deliverNext(from: slot, context)
        case .performed(let block): block.perform()
        case .job(let job, let thread): ActorJobs.run(job, of: thread, context)
        case nil: break
        }
    }

    @inline(never)
    private static func deliverHeld(
        by observer: ObserverID, number: UInt64, _ mailbox: ThreadMailbox, _ context: ThreadContext
    ) {
        let (item, waiter) = mailbox.state.withLock { $0.pending.takeHeld(by: observer, number: number) }
        waiter?.wake()
        if let item { deliver(item, context) }
    }

    private static func signalTaken(
        _ mailbox: ThreadMailbox, _ queues: some Collection<Int> & Sendable, _ context: ThreadContext
    ) {
        for queue in queues where !context.drainState.taken.isEmpty(queue) {
            DeliveryEvent.trace(.signal, target: mailbox.identity)
            mailbox.signalItself(queue)
        }
    }

    /// Releases the observers of the entries that this drain delivered.
    @inline(never)
    private static func releaseExhausted(_ context: ThreadContext) {
        while var chunk = context.drainState.taken.takeExhausted(in: context.drainState.depth) {
            chunk.removeAll()
            context.drainState.taken.reuse(&chunk)
        }
    }
}
