internal import Foundation

/// How a thread empties its mailbox. All of it is called on the target thread.
extension ThreadMailbox {
    /// Delivers what waits in the run loop's mode.
    func deliverWaiting() {
        ThreadContext.withCurrent { context in context.nest("what waits here") { drain(deliverableLanes(), context) } }
    }

    /// Performs a block after what waits in the run loop's mode. The block takes its place first, so that what the
    /// handlers post meanwhile comes after it.
    func performInTurn(_ block: PerformedBlock) {
        let lanes = deliverableLanes()
        let (place, source) = state.withLock { state in
            take(lanes, from: &state)
            return (state.pending.reservePlaces(1), state.lanes[0].source)
        }
        if lanes.contains(0) {
            taken.append(Pending.Entry(place: place, item: MailboxItem(.performed(block))), lane: 0)
            // A handler may run the run loop, which then performs the block.
            source.signal()
        }
        ThreadContext.withCurrent { context in
            context.nest("a block") {
                releaseHandlers()
                deliverTaken(from: lanes, before: place + 1, context)
                // In a mode that is not a common one it has no place in the mailbox.
                block.perform()
            }
        }
    }

    /// A lane was signalled.
    func drain(lane: Int) {
        guard spinning != nil, drains == 0 else { return drainOnce(lane: lane) }
        spinning?.budget.woken()
        let begin = SystemThread.monotonicNanoseconds
        repeat { drainOnce(lane: lane) } while look(for: lane, since: begin)
        // What came after the last look signalled.
    }

    private func drainOnce(lane: Int) {
        ThreadContext.withCurrent { context in
            if state.withLock({ $0.lanes.count == 1 }) { return drain(CollectionOfOne(lane), context) }
            let lanes = state.withLock { $0.lanes }
            drain(lanes.indices.filter { $0 == lane || lanes[$0].source.isDeliverableNow }, context)
        }
    }

    /// Delivers all that waits in these lanes, and nothing that is appended meanwhile: for that there was a signal.
    @inline(__always)
    private func drain(_ lanes: some Collection<Int> & Sendable, _ context: ThreadContext) {
        let toRelease = state.withLock { state in
            take(lanes, from: &state)
            defer { if !state.toRelease.isEmpty { state.toRelease = [] } }
            return state.toRelease
        }
        for handler in toRelease { handler.release() }
        deliverTaken(from: lanes, before: .max, context)
    }

    /// Delivers what was taken from these lanes and has a place before `end`.
    @inline(__always)
    func deliverTaken(from lanes: some Collection<Int> & Sendable, before end: UInt64, _ context: ThreadContext) {
        DeliveryEvent.trace(.drain)
        let hasMoreThanOne = taken.hasMoreThanOne(in: lanes)
        spinning?.taken(moreThanOne: hasMoreThanOne)
        if hasMoreThanOne {
            // A handler may run the run loop, which then finds the rest.
            let signals = state.withLock { state in
                lanes.filter { !taken.isEmpty(lane: $0) }.map { Signal(to: $0, of: state) }
            }
            for signal in signals { signal.sendToItself() }
        }
        drains += 1
        while let lane = taken.firstLane(of: lanes, before: end) {
            let entry = taken.takeFirst(of: lane, in: drains)
            deliver(entry, context)
            if taken.hasExhausted { letGo() }
        }
        drains -= 1
    }

    /// Lets go of what was kept for what this drain delivered.
    @inline(never)
    private func letGo() {
        while var chunk = taken.takeExhausted(in: drains) {
            chunk.kept.removeAll(keepingCapacity: true)
            taken.addEmpty(&chunk)
        }
    }

    /// Takes what waits in these lanes, with the lock held.
    @inline(__always)
    func take(_ lanes: some Collection<Int> & Sendable, from state: inout State) {
        taken.handOutEmpty { state.pending.reuse(&$0) }
        for lane in lanes {
            taken.take(lane: lane) { state.pending.takeAll(lane: lane, into: &$0) }
        }
        nothingIsPending(unless: state.pending.waitingLanes > 0)
    }

    @inline(__always)
    private func deliver(_ entry: Pending.Entry, _ context: ThreadContext) {
        guard entry.holder == 0 else { return deliverHeld(by: entry.holder, at: entry.place, context) }
        deliver(entry.item, context)
    }

    private func deliverHeld(by observer: ObserverID, at place: UInt64, _ context: ThreadContext) {
        let (item, waiter) = state.withLock { $0.pending.takeHeld(by: observer, place: place) }
        waiter?.wake()
        if let item { deliver(item, context) }
    }

    @inline(__always)
    private func deliver(_ item: MailboxItem, _ context: ThreadContext) {
        if item.withObserver({ $0.deliver(item, context) }) { return }
        act(item, context)
    }

    @inline(never)
    private func act(_ item: MailboxItem, _ context: ThreadContext) {
        switch item.action {
        case .turns(let held): deliverNext(of: held, context)
        case .block(let block, let post): context.perform(block, post: post, wait: nil)
        case .performed(let block): block.perform()
        case .job(let job, let thread): runOrPostpone(job, thread)
        case nil: break
        }
    }
}
