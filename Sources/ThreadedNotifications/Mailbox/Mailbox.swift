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
        let mustSend = state.withLock { state in
            state.signal = signal
            return !state.pending.isEmpty || !state.toRelease.isEmpty || state.phase != .open
        }
        if mustSend { signal.send() }
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

/// What a mailbox accepts.
///
///     unstarted ──begin─► open ──close──► closing ──end──► ending ──► ended
///     deliveries, jobs    everything      jobs             nothing
struct MailboxLife {
    enum Phase {
        case unstarted, open, closing
        /// The entries that wait are being settled. Only jobs, and objects that the thread must release, are accepted.
        case ending
        case ended
    }

    private var ownPhase = Phase.unstarted
    /// Since the thread began; see `ForkedCopy`.
    fileprivate var generation = 0

    var phase: Phase {
        get { isOfParent ? .ended : ownPhase }
        set { ownPhase = newValue }
    }

    /// True in a copy of the process that has no copy of the thread.
    var isOfParent: Bool { ownPhase != .unstarted && generation != ForkedCopy.generation }

    mutating func begin() {
        _ = ForkedCopy.isWatching
        generation = ForkedCopy.generation
        if ownPhase == .unstarted { ownPhase = .open }
    }

    func accepts(_ delivery: borrowing Delivery) -> Bool {
        switch phase {
        case .open: true
        case .unstarted: !delivery.isBlock
        case .closing, .ending: delivery.isJob
        case .ended: false
        }
    }
}

/// The part of a mailbox that all threads see: a pure value. It says what to do after its lock was released.
struct MailboxState {
    /// Of its own, because reading it would copy the rest otherwise.
    var life = MailboxLife()
    var phase: MailboxLife.Phase { life.phase }
    var pending = PendingDeliveries()
    /// Wakes the thread; nil before it serves the mailbox and after its end.
    fileprivate(set) var signal: (any ThreadSignal)?
    /// The thread's own signal, if another main loop has replaced it.
    private(set) var replacedSignal: (any ThreadSignal)?
    var ownSignal: (any ThreadSignal)? { replacedSignal ?? signal }
    /// Nil before the thread begins.
    var identity: ThreadIdentity?
    var runLoop: RunLoopReference?
    /// The limit of one drain of the run loop.
    var drainBudget = DrainBudget.unbounded { didSet { slice = DrainSlice(drainBudget) } }
    /// The budget of the next drain.
    private(set) var slice = DrainSlice.unbounded
    /// True from a drain of the thread's sleep until it sleeps or has read its event: it looks again before it sleeps,
    /// and needs no signal. Another main loop of the thread needs one in any case.
    var isAwake = false
    /// Objects that other threads gave up and the thread must release.
    var toRelease: [AnyObject] = []
    /// Blocks with a delay that has not passed.
    var delayed: [ObjectIdentifier: PerformedBlock] = [:]
    /// Called when the thread begins.
    var whenBegun: [@Sendable (RunLoopReference) -> Void] = []
    /// The thread's services, by type.
    var services: [ObjectIdentifier: any ThreadService] = [:]

    /// The thread begins.
    mutating func begin(_ identity: ThreadIdentity, _ runLoop: RunLoopReference) {
        (self.identity, self.runLoop) = (identity, runLoop)
        life.begin()
    }

    /// The process is a copy that has a copy of the thread.
    mutating func threadWasCopied(_ generation: Int, _ identity: ThreadIdentity?) {
        life.generation = generation
        isAwake = false
        if phase != .unstarted { self.identity = identity }
    }

    /// The error of a call that would wait for the thread; nil if it can wait.
    func reasonNotToWait(for thread: String) -> DeliveryError? {
        switch phase {
        case .unstarted: .threadNotStarted(thread: thread)
        case .open: nil
        case .closing, .ending, .ended: .threadStopped(thread: thread)
        }
    }

    /// Replaces the signal; nil: the thread's own is used again.
    /// - Returns: the signal to send.
    mutating func replaceSignal(_ new: (any ThreadSignal)?) -> (any ThreadSignal)? {
        guard signal != nil else { return nil }
        isAwake = false
        if let new {
            replacedSignal = signal
            signal = new
        } else if let own = replacedSignal {
            (signal, replacedSignal) = (own, nil)
        }
        return signal
    }

    /// The thread ends, or will never begin: nothing is accepted any more.
    /// - Returns: nil if that was done before.
    mutating func end() -> Ended? {
        guard phase != .ending, phase != .ended else { return nil }
        life.phase = .ending
        var taken = TakenDeliveries()
        _ = pending.refill(&taken)
        defer { (signal, replacedSignal, runLoop, delayed, services, whenBegun) = (nil, nil, nil, [:], [:], []) }
        return Ended(
            taken: taken, delayed: Array(delayed.values), services: Array(services.values),
            signal: ownSignal)
    }

    struct Ended {
        var taken: TakenDeliveries
        var delayed: [PerformedBlock]
        var services: [any ThreadService]
        var signal: (any ThreadSignal)?
    }

    /// - Returns: what the thread must still release, and the jobs that were enqueued meanwhile.
    mutating func finishEnd() -> (isOver: Bool, toRelease: [AnyObject], jobs: TakenDeliveries) {
        let isOver = toRelease.isEmpty && pending.isEmpty
        if isOver { life.phase = .ended }
        var taken = TakenDeliveries()
        _ = pending.refill(&taken)
        defer { toRelease = [] }
        return (isOver, toRelease, taken)
    }
}
