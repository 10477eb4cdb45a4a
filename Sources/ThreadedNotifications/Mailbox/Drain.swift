/// Empties a mailbox on its thread: takes the entries, and delivers them in order.
///
/// Drains may be nested, because a handler may run the run loop. They share `DrainState`, so that the inner drain continues
/// where the outer one stopped.
/// Threads: the target thread.
struct Drain {
    private let mailbox: ThreadMailbox
    private let context: ThreadContext

    init(_ mailbox: ThreadMailbox, _ context: ThreadContext) {
        self.mailbox = mailbox
        self.context = context
    }

    // MARK: Beginning

    /// The run loop calls this after a signal: delivers what waits, and watches for more if the thread spins.
    static func run(_ mailbox: ThreadMailbox, signalled queue: Int) {
        ThreadContext.withCurrent { context in
            let drain = Drain(mailbox, context)
            guard context.drainState.spinner != nil, context.drainState.depth == 0 else { return drain.run(queue) }
            context.drainState.spinner?.wasWoken()
            let begin = SystemThread.monotonicNanoseconds
            repeat { drain.run(queue) } while drain.watch(queue, since: begin)
        }
    }

    /// Delivers everything that waits in the run loop's current mode.
    static func runServed(_ mailbox: ThreadMailbox) {
        ThreadContext.withCurrent { context in
            context.nest("a waiting delivery") { Drain(mailbox, context).run(mailbox.servedQueues()) }
        }
    }

    /// Performs a block after everything that waits in the run loop's current mode. Entries from the handlers come after the
    /// block.
    static func perform(_ block: PerformedBlock, _ mailbox: ThreadMailbox) {
        ThreadContext.withCurrent { context in
            let drain = Drain(mailbox, context)
            let queues = mailbox.servedQueues()
            let number = drain.reserveNumbers(count: 1, takingFirst: queues)
            if queues.contains(0) {
                context.drainState.taken.append(
                    MailboxState.Pending.Entry(number: number, item: Delivery(.performed(block))), to: 0)
                // A handler may run the run loop, which then performs the block.
                mailbox.signalItself(0)
            }
            context.nest("a block") {
                mailbox.releaseHandlers()
                drain.deliverTaken(from: queues, before: number + 1)
                // In a mode that is not a common mode the block has no entry.
                block.perform()
            }
        }
    }

    /// Takes what waits in queues, and reserves sequence numbers for entries that come after it.
    /// - Returns: the first of the numbers.
    func reserveNumbers(count: Int, takingFirst queues: [Int]) -> UInt64 {
        mailbox.state.lock()
        defer { mailbox.state.unlock() }
        if !queues.isEmpty { take(queues, from: &mailbox.state.valueWhileLocked) }
        return mailbox.state.valueWhileLocked.pending.reserveNumbers(count)
    }

    /// Delivers what `reserveNumbers` took before the numbers that it reserved.
    func deliverWaiting(in queues: [Int], before number: UInt64) {
        context.nest("a waiting delivery") {
            mailbox.releaseHandlers()
            deliverTaken(from: queues, before: number)
        }
    }

    private func run(_ queue: Int) {
        if mailbox.state.withLock({ $0.modeQueues.count == 1 }) { return run(CollectionOfOne(queue)) }
        let queues = mailbox.state.withLock { $0.modeQueues }
        run(queues.indices.filter { $0 == queue || queues[$0].source.isDeliverableNow })
    }

    /// Delivers the entries of these queues. Entries that are enqueued meanwhile are signalled again.
    @inline(__always)
    private func run(_ queues: some Collection<Int> & Sendable) {
        mailbox.state.lock()
        take(queues, from: &mailbox.state.valueWhileLocked)
        let handlers = mailbox.state.valueWhileLocked.takeHandlersToRelease()
        mailbox.state.unlock()
        for handler in handlers { handler.release() }
        deliverTaken(from: queues, before: .max)
    }

    // MARK: Taking

    /// Takes what is pending in these queues, with the lock held.
    @inline(__always)
    private func take(
        _ queues: some Collection<Int> & Sendable, from state: inout MailboxState
    ) {
        context.drainState.taken.handOutEmpty { state.pending.reuse(&$0) }
        for queue in queues {
            context.drainState.taken.take(queue) { state.pending.takeAll(of: queue, into: &$0) }
        }
        mailbox.arrivals.set(to: state.pending.waitingQueues > 0)
    }

    /// Watches for more instead of returning to the run loop, which would sleep.
    /// - Returns: whether entries are pending in the queue.
    private func watch(_ queue: Int, since begin: UInt64) -> Bool {
        let start = SystemThread.monotonicNanoseconds
        guard let limit = context.drainState.spinner?.timeLimit(since: begin, now: start) else { return false }
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

    /// Delivers the taken entries of these queues that have a sequence number before `end`, in order.
    @inline(__always)
    private func deliverTaken(
        from queues: some Collection<Int> & Sendable, before end: UInt64
    ) {
        DeliveryEvent.trace(.drain)
        let hasMoreThanOne = context.drainState.taken.hasMoreThanOne(in: queues)
        context.drainState.spinner?.drained(moreThanOne: hasMoreThanOne)
        // A handler may run the run loop, which must then deliver the rest.
        if hasMoreThanOne { signalTaken(queues) }
        context.drainState.depth += 1
        while let queue = context.drainState.taken.firstQueue(of: queues, before: end) {
            let entry = context.drainState.taken.takeFirst(of: queue, in: context.drainState.depth)
            if entry.holder != 0 {
                deliverHeld(by: entry.holder, number: entry.number)
            } else {
                deliver(entry.item)
            }
            if context.drainState.taken.hasExhausted { releaseExhausted() }
        }
        context.drainState.depth -= 1
    }

    @inline(__always)
    private func deliver(_ delivery: Delivery) {
        if delivery.withObserver({ ObserverCall.run($0, with: delivery, context) }) { return }
        perform(delivery)
    }

    @inline(never)
    private func perform(_ delivery: Delivery) {
        switch delivery.action {
        case .fanOut(let fanOut): fanOut.deliverNext(context)
        case .block(let block, let post): context.perform(block, post: post, wait: nil)
        case .performed(let block): block.perform()
        case .job(let job, let thread): ActorJobs.run(job, of: thread, context)
        case nil: break
        }
    }

    private func deliverHeld(by observer: ObserverID, number: UInt64) {
        let (item, waiter) = mailbox.state.withLock { $0.pending.takeHeld(by: observer, number: number) }
        waiter?.wake()
        if let item { deliver(item) }
    }

    private func signalTaken(_ queues: some Collection<Int> & Sendable) {
        let waiting = queues.filter { !context.drainState.taken.isEmpty($0) }
        let signals = mailbox.state.withLock { state in waiting.map { state.unconditionalSignal(for: $0) } }
        for signal in signals { signal.sendToItself() }
    }

    /// Releases the observers of the entries that this drain delivered.
    @inline(never)
    private func releaseExhausted() {
        while var chunk = context.drainState.taken.takeExhausted(in: context.drainState.depth) {
            chunk.removeAll()
            context.drainState.taken.reuse(&chunk)
        }
    }
}
