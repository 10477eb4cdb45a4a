internal import Foundation
internal import Synchronization

/// The one queue of a thread: the document's "custom notification queue". Notifications, blocks and jobs for the thread
/// share it and keep their order. Any thread enqueues; the thread's run loop drains it: see `Drain`.
///
///     enqueue ──first entry──► signal ──► run loop ──► Drain
///
/// Threads: any. State that only the thread uses is in its `ThreadContext`.
final class Mailbox: Sendable {
    /// The thread's name in errors, before it has an identity.
    let threadName: String?
    let isMain: Bool
    let state = Locked(MailboxState())
    let endObservers = ThreadEndObservers()
    /// True if deliveries were appended and not taken: what the thread appended itself, and what other threads did
    /// before this one heard of it. Changed with the lock held.
    let hasDeliveries = Atomic(false)

    /// The main thread's mailbox.
    static let main: Mailbox = {
        let mailbox = Mailbox(threadName: "main", isMain: true)
        mailbox.state.withLock { $0.drainBudget = .ofMain }
        mailbox.begin(ThreadIdentity(number: 1, name: "main", kernelID: SystemThread.processID), .main)
        mailbox.serve(RunLoopSignal(.main))
        MainThreadEnd.watch()
        return mailbox
    }()

    init(threadName: String? = nil, isMain: Bool = false) {
        self.threadName = threadName
        self.isMain = isMain
    }

    /// The thread; nil before it began.
    var identity: ThreadIdentity? { state.withLock { $0.identity } }
    var isOpen: Bool { state.withLock { $0.life.phase == .open } }
    var isEnded: Bool { state.withLock { $0.phase == .ended } }
    /// True from `close()` or `end()` on.
    var isStopping: Bool { state.withLock { $0.phase != .unstarted && $0.phase != .open } }
    /// True in a copy of the process that has no copy of this thread.
    var isOfParent: Bool { state.withLock { $0.life.isOfParent } }
    /// True if this is the calling thread's mailbox.
    var isCurrent: Bool { ThreadContext.withCurrent { $0.mailbox === self } }
    /// The thread's name in errors.
    var description: String { threadName ?? identity.map(\.description) ?? "a thread" }

    /// The error of a call that would wait for this thread; nil if it can wait.
    var reasonNotToWait: DeliveryError? {
        let description = description
        return state.withLock { $0.reasonNotToWait(for: description) }
    }

    /// The reason of the outcome `targetGone`; nil if the thread has ended, or was told to stop.
    var reasonItIsGone: DeliveryEvent.Reason? { identity == nil ? .notStarted : nil }

    /// Notes that something was refused and is lost, and warns if the main thread is the target.
    func noteLoss() -> DeliveryEvent.Reason? {
        if isMain { MainThreadEnd.warn() }
        return reasonItIsGone
    }

    // MARK: Append, wake

    /// Appends a delivery, and wakes the thread if nothing waited.
    /// - Returns: the delivery, if the thread accepts nothing; then the caller settles it.
    func enqueue(_ delivery: consuming Delivery) -> Delivery? {
        state.lock()
        guard state.valueWhileLocked.life.accepts(delivery) else {
            state.unlock()
            return delivery
        }
        let isFirst = state.valueWhileLocked.pending.append(delivery)
        if state.valueWhileLocked.pending.hasDeliveries { hasDeliveries.store(true, ordering: .releasing) }
        let signal = isFirst && !state.valueWhileLocked.isAwake ? state.valueWhileLocked.signal : nil
        state.unlock()
        if let signal {
            DeliveryEvent.trace(.signal, target: identity)
            signal.send()
        }
        return nil
    }

    func removeTickets(where isStale: (Delivery) -> Bool) {
        state.lock()
        defer { state.unlock() }
        state.valueWhileLocked.pending.removeTickets(where: isStale)
        hasDeliveries.store(state.valueWhileLocked.pending.hasDeliveries, ordering: .releasing)
    }

    /// Appends a block.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`.
    func enqueue(_ block: @escaping @Sendable () -> Void, post: UInt64) throws(DeliveryError) {
        DeliveryEvent.trace(.append, post: post, target: identity)
        if enqueue(Delivery(.block(block), post: post)) == nil { return }
        DeliveryEvent.trace(.targetGone, post: post, target: identity, reason: noteLoss())
        throw reasonNotToWait ?? .threadStopped(thread: description)
    }

    /// Notes a block with a delay, which the thread's end settles.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`.
    func add(delayed block: PerformedBlock) throws(DeliveryError) {
        let description = description
        try state.withLock { state throws(DeliveryError) in
            if let reason = state.reasonNotToWait(for: description) { throw reason }
            state.delayed[ObjectIdentifier(block)] = block
        }
    }

    func remove(delayed block: PerformedBlock) {
        let removed = state.withLock { $0.delayed.removeValue(forKey: ObjectIdentifier(block)) }
        withExtendedLifetime(removed) {}
    }

    // MARK: Begin, close, end

    /// The thread begins, or is known from now on.
    func begin(_ identity: ThreadIdentity, _ runLoop: RunLoopReference) {
        let bodies = state.withLock { state in
            state.begin(identity, runLoop)
            defer { state.whenBegun = [] }
            return state.whenBegun
        }
        for body in bodies { body(runLoop) }
    }

    /// The thread serves the mailbox from now on.
    func serve(_ signal: any ThreadSignal) {
        if state.withLock({ $0.serve(signal) }) { signal.send() }
    }

    /// From now on only jobs are accepted, and the thread ends when it has delivered what waits.
    func close() {
        let signal: (any ThreadSignal)? = state.withLock { state in
            guard state.phase == .open || state.phase == .unstarted else { return nil }
            state.life.phase = .closing
            return state.signal
        }
        guard let signal else { return }
        DeliveryEvent.trace(.signal, target: identity)
        signal.send()
    }

    /// Lets the thread release an object, which has no place in the thread's order. The calling thread releases it if
    /// it is the thread, or if the thread has ended.
    func release(_ object: consuming AnyObject) {
        if isCurrent { return }
        state.lock()
        guard state.valueWhileLocked.phase != .ended else {
            state.unlock()
            return withExtendedLifetime(object) {}
        }
        state.valueWhileLocked.toRelease.append(object)
        let signal = state.valueWhileLocked.toRelease.count == 1 ? state.valueWhileLocked.signal : nil
        state.unlock()
        signal?.send()
    }

    /// The thread ends, or never begins: settles what waits with the outcome `targetGone`, the oldest first.
    /// - Parameter first: what the thread has taken and not delivered.
    /// - Returns: what was lost; nil if the mailbox was ended before.
    func end(
        _ first: consuming TakenDeliveries = TakenDeliveries(), postponed: [ActorJobs.Job] = []
    ) -> LostDeliveries? {
        state.lock()
        let ended = state.valueWhileLocked.end()
        state.unlock()
        guard let ended else { return nil }
        ended.signal?.invalidate()
        let reason = reasonItIsGone
        var lost = LostDeliveries()
        var jobs = postponed
        for service in ended.services { lost.queuedNotifications += service.threadEnds(reason) }
        for var taken in [first, ended.taken] {
            while let delivery = taken.takeFirst() { settle(delivery, reason, &lost, &jobs) }
            // Their release calls foreign code.
            withExtendedLifetime(taken.takeOwners()) {}
        }
        // Those that were due have been counted above.
        for block in ended.delayed { _ = block.targetIsGone(reason) }
        while true {
            state.lock()
            var (isOver, toRelease, taken) = state.valueWhileLocked.finishEnd()
            state.unlock()
            while let delivery = taken.takeFirst() { settle(delivery, reason, &lost, &jobs) }
            withExtendedLifetime(toRelease) {}
            if isOver { break }
        }
        // Last, because they run on other threads.
        for (job, thread) in jobs { thread.runLate(job) }
        if isMain, lost.notifications + lost.blocks + lost.queuedNotifications + ended.delayed.count > 0 {
            MainThreadEnd.warn()
        }
        return lost
    }

    private func settle(
        _ delivery: Delivery, _ reason: DeliveryEvent.Reason?, _ lost: inout LostDeliveries,
        _ jobs: inout [ActorJobs.Job]
    ) {
        switch delivery.content {
        case .block:
            DeliveryEvent.trace(.targetGone, post: delivery.post, reason: reason)
            lost.blocks += 1
        case .performed(let block): if block.targetIsGone(reason) { lost.blocks += 1 }
        case .job(let job, let thread): jobs.append((job, thread))
        case .mark, .nothing: break
        case .payload, .ticket:
            if delivery.observer?._withUnsafeGuaranteedRef({ $0.settle(delivery, .targetGone, reason: reason) }) == true
            {
                lost.notifications += 1
            }
        }
    }

    /// Tells the observers of the thread's end. Called after `end()`, when the thread has released everything else.
    func reportEnd(_ lost: LostDeliveries) {
        let identity = identity
        endObservers.threadEnded(
            ThreadEnd(
                thread: identity, name: threadName ?? identity?.name, lostNotifications: lost.notifications,
                lostBlocks: lost.blocks, lostQueuedNotifications: lost.queuedNotifications))
    }
}

/// The losses of a thread that ended: see `ThreadEnd`.
struct LostDeliveries {
    var notifications = 0
    var blocks = 0
    var queuedNotifications = 0
}
