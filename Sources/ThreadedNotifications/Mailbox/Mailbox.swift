internal import Foundation

/// The one queue of a thread: the document's "custom notification queue". Notifications, blocks and jobs for the thread
/// share it and keep their order. Any thread enqueues; the thread's run loop drains it: see `Drain`.
///
///     enqueue ──first entry──► signal ──► run loop ──► Drain
///
/// Threads: any. What the thread alone uses is in its `ThreadContext`.
final class Mailbox: Sendable {
    /// The thread's name in errors, before it has an identity.
    let threadName: String?
    let isMain: Bool
    let state = Locked(MailboxState(), isTakenToFork: true)
    let endObservers = ThreadEndObservers()

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
        ForkedCopy.add(self)
    }

    deinit {
        ForkedCopy.remove(self)
    }

    /// The thread; nil before it began.
    var identity: ThreadIdentity? { state.withLock { $0.identity } }
    var isOpen: Bool { state.withLock { $0.phase == .open } }
    var isEnded: Bool { state.withLock { $0.phase == .ended } }
    /// True from `close()` or `end()` on.
    var isStopping: Bool { state.withLock { $0.phase != .unstarted && $0.phase != .open } }
    /// True in a copy of the process that has no copy of this thread.
    var isOfParent: Bool { state.withLock { $0.isOfParent } }
    /// True if this is the calling thread's mailbox.
    var isCurrent: Bool { ThreadContext.withCurrent { $0.owns(self) } }
    /// The thread's name in errors.
    var description: String { threadName ?? identity.map(\.description) ?? "a thread" }
    /// The thread as events name it.
    var numberAndName: String { identity.map(\.description) ?? description }

    /// The error of a call that would wait for this thread; nil if it can wait.
    var reasonNotToWait: DeliveryError? {
        let description = description
        return state.withLock { $0.reasonNotToWait(for: description) }
    }

    /// The reason of what is `targetGone`; nil if the thread has ended, or was told to stop.
    var reasonItIsGone: DeliveryEvent.Reason? { identity == nil ? .notStarted : nil }

    /// Notes that something was refused and is lost, and warns if the main thread is the target.
    func noteLoss() -> DeliveryEvent.Reason? {
        if isMain { MainThreadEnd.warn() }
        return reasonItIsGone
    }

    // MARK: Append, wake

    /// Appends a delivery, and wakes the thread if nothing waited.
    /// - Returns: false if the thread accepts nothing; then the caller settles the delivery.
    func enqueue(_ delivery: consuming Delivery) -> Bool {
        state.lock()
        let appended = state.valueWhileLocked.append(delivery)
        state.unlock()
        switch appended {
        case .waits: return true
        case .refused: return false
        case .wakes(let signal):
            send(signal)
            return true
        }
    }

    private func send(_ signal: any ThreadSignal) {
        DeliveryEvent.trace(.signal, target: identity)
        signal.send()
    }

    /// Appends a block.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`.
    func enqueue(_ block: @escaping @Sendable () -> Void, post: UInt64) throws(DeliveryError) {
        DeliveryEvent.trace(.append, post: post, target: identity)
        if enqueue(Delivery(.block(block), post: post)) { return }
        DeliveryEvent.trace(.targetGone, post: post, target: identity, reason: noteLoss())
        throw reasonNotToWait ?? .threadStopped(thread: description)
    }

    /// Removes stale tickets, if there are many. A bounded observer gave a delivery up.
    func ticketBecameStale() {
        state.withLock { $0.pending.ticketBecameStale(\.isStaleTicket) }
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
        for body in state.withLock({ $0.begin(identity, runLoop) }) { body(runLoop) }
    }

    /// The thread serves the mailbox from now on.
    func serve(_ signal: any ThreadSignal) {
        state.withLock { $0.serve(signal) }?.send()
    }

    /// From now on only jobs are accepted, and the thread ends when it has delivered what waits.
    func close() {
        if let signal = state.withLock({ $0.close() }) { send(signal) }
    }

    /// Lets the thread release an object. The calling thread releases it if it is the thread, or if the thread has ended.
    /// - Parameter object: the last reference, moved and not copied, because the thread may be faster.
    func release(_ object: consuming AnyObject) {
        if isCurrent { return }
        var object = Optional(object)
        state.lock()
        let signal = state.valueWhileLocked.release(&object)
        state.unlock()
        signal?.send()
    }

    /// The thread ends, or never begins: settles what waits with the outcome `targetGone`, the oldest first.
    /// - Parameter first: what the thread has taken and not delivered.
    /// - Returns: what was lost; nil if the mailbox was ended before.
    func end(_ first: consuming TakenDeliveries = TakenDeliveries()) -> LostDeliveries? {
        state.lock()
        let ended = state.valueWhileLocked.end()
        state.unlock()
        guard let ended else { return nil }
        ended.signal?.invalidate()
        let reason = reasonItIsGone
        var lost = LostDeliveries()
        for service in ended.services { lost.queuedNotifications += service.threadEnds(reason) }
        for var taken in [first, ended.taken] {
            while let delivery = taken.takeFirst() { settle(delivery, reason, &lost) }
            // Their release calls foreign code.
            withExtendedLifetime(taken.takeOwners()) {}
        }
        // Those that were due have been counted above.
        for block in ended.delayed { _ = block.targetIsGone(reason) }
        while case let toRelease = state.withLock({ $0.finishEnd() }), !toRelease.isEmpty {}
        if isMain, lost.notifications + lost.blocks + lost.queuedNotifications + ended.delayed.count > 0 {
            MainThreadEnd.warn()
        }
        return lost
    }

    private func settle(_ delivery: Delivery, _ reason: DeliveryEvent.Reason?, _ lost: inout LostDeliveries) {
        switch delivery.content {
        case .block:
            DeliveryEvent.trace(.targetGone, post: delivery.post, reason: reason)
            lost.blocks += 1
        case .performed(let block): if block.targetIsGone(reason) { lost.blocks += 1 }
        case .job(let job, let thread): thread.runLate(job)
        case .mark, .nothing: break
        case .payload, .ticket:
            if delivery.withObserver({ $0.settle(delivery, .targetGone, reason: reason) }) == true {
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

    /// The process is a copy that begins. The caller holds the locks.
    /// - Parameter hasEnded: whether the copy has no copy of this thread.
    func processWasCopied(newIdentity: ThreadIdentity?, hasEnded: Bool) {
        if let newIdentity { state.valueWhileLocked.identity = newIdentity }
        guard hasEnded, state.valueWhileLocked.phase != .unstarted else { return }
        (state.valueWhileLocked.phase, state.valueWhileLocked.isOfParent) = (.ended, true)
        let identity = state.valueWhileLocked.identity
        endObservers.threadIsOfParent(ThreadEnd(thread: identity, name: threadName ?? identity?.name))
    }
}

/// What waited when a thread ended: see `ThreadEnd`.
struct LostDeliveries {
    var notifications = 0
    var blocks = 0
    var queuedNotifications = 0
}
