internal import CLinux
internal import Foundation
internal import Synchronization

/// What waits for one thread: the document's "custom notification queue", one for each thread, in front of its run loop.
///
/// Notifications, blocks and jobs for the thread share it, so that their order is the order in which they were handed over.
///
///     unstarted ──attach──► open ──close──► closing ──finish──► finished
///      holds               takes            takes jobs only      refuses; what waits has lost its target
///
/// Threads: what is marked so is called on the target thread only; the rest on any.
final class ThreadMailbox: Sendable {
    typealias Pending = PendingDeliveries<MailboxItem, RoomWaiter>

    enum Phase {
        case unstarted
        case open
        case closing
        /// As closing, while one call of `finish` tells everybody.
        case finishing
        case finished
    }

    /// A set of run loop modes, and what the thread is signalled by in them.
    struct Lane: Sendable {
        var modes: Set<RunLoop.Mode>
        var source: RunLoopSource
    }

    struct State {
        var phase = Phase.unstarted
        var pending = Pending()
        var lanes: [Lane] = []
        var runLoop: RunLoopReference?
        /// Whether the run loop has the lanes' sources, and so something to wait for.
        var isServed = false
        var identity: ThreadIdentity?
        /// The lane that the thread looks at, and which need not be signalled therefore.
        var lookedAt: Int?
        /// On which processor the thread ran that appended to an empty lane last.
        var posterProcessor: Int32 = 0
        /// What is to be released on the thread and on no other. They are not in its order, and hold up nothing.
        var toRelease: [Unmanaged<NotificationHandler>] = []
    }

    /// What became of something handed over.
    enum Acceptance {
        case accepted
        case notStarted
        case targetGone
    }

    /// What the thread is called in errors, before it has an identity.
    let threadName: String?
    let isMain: Bool
    /// Whether its thread may look for more before it sleeps.
    private let isLookedFor: Bool

    let state = Locked(State())
    /// Whether something is pending: set with the lock held, to be looked at without.
    private let isPending = Atomic<Bool>(false)
    var hasPending: Bool { isPending.load(ordering: .relaxed) }

    /// The mailbox itself, for its lanes' sources, until it is finished. It is always finished, and a weak reference would make each
    /// reference cost more.
    private let drained = Locked<ThreadMailbox?>(nil)

    /// What waits in the thread's posting queues.
    let postings = ThreadPostings()

    // Safety: only the target thread touches these, or, if it never started, whoever finishes the mailbox.
    @exclusivity(unchecked) nonisolated(unsafe) var taken = TakenDeliveries<MailboxItem, RoomWaiter>()
    @exclusivity(unchecked) private nonisolated(unsafe) var deliverable = DeliverableLanes()
    /// How many drains are under way, one in another's handlers.
    @exclusivity(unchecked) nonisolated(unsafe) var drains = 0
    /// Nil: the thread sleeps at once when it has delivered all.
    @exclusivity(unchecked) nonisolated(unsafe) var spinning: Spinning?
    private nonisolated(unsafe) var isRunningJob = false
    private nonisolated(unsafe) var postponedJobs: [(job: UnownedJob, thread: RunLoopThread)] = []

    /// The main thread's.
    static let main: ThreadMailbox = {
        let mailbox = ThreadMailbox(threadName: "main", isMain: true)
        mailbox.attach(
            to: .main, of: ThreadIdentity(number: 1, name: "main", kernelID: SystemThread.processID))
        return mailbox
    }()

    init(threadName: String?, isMain: Bool = false, spins: Bool = false) {
        spinning = spins ? Spinning() : nil
        isLookedFor = spins
        self.threadName = threadName
        self.isMain = isMain
        drained.withLock { $0 = self }
        _ = lane(for: [.common])
    }

    // MARK: The thread

    /// Whether this is the calling thread's.
    var isCurrent: Bool { ThreadContext.withCurrent { $0.owns(.passUnretained(self)) } }

    /// The target thread's; nil before it started.
    var identity: ThreadIdentity? { state.withLock { $0.identity } }

    var isFinished: Bool { state.withLock { $0.phase == .finished } }

    var isOpen: Bool { state.withLock { $0.phase == .open } }

    /// What the thread is called in errors.
    var description: String { threadName ?? identity.map(\.description) ?? "a thread" }

    /// Why nobody can wait for this thread; nil if one can.
    var reasonNotToWait: DeliveryError? {
        switch state.withLock({ $0.phase }) {
        case .unstarted: return .threadNotStarted(thread: description)
        case .open: return nil
        case .closing, .finishing, .finished: return .threadStopped(thread: description)
        }
    }

    /// Gives the mailbox its thread.
    /// - Parameter isServed: whether the run loop shall serve it from now on; else from `serve()` on.
    func attach(to runLoop: RunLoopReference, of identity: ThreadIdentity, isServed: Bool = true) {
        state.withLock { state in
            state.runLoop = runLoop
            state.identity = identity
            if state.phase == .unstarted { state.phase = .open }
        }
        if isServed { serve() }
        postings.attach(to: runLoop)
    }

    /// Has the thread's run loop serve the mailbox: from now on it has something to wait for. On the target thread.
    func serve() {
        let (lanes, runLoop) = state.withLock { state -> ([Lane], RunLoopReference?) in
            guard !state.isServed else { return ([], nil) }
            state.isServed = true
            return (state.lanes, state.runLoop)
        }
        guard let runLoop else { return }
        for lane in lanes { add(lane, to: runLoop) }
    }

    private func add(_ lane: Lane, to runLoop: RunLoopReference) {
        for mode in lane.modes { lane.source.add(to: runLoop, mode: mode) }
        // A signal sent before now woke nobody.
        runLoop.wakeUp()
    }

    /// The lane for a set of modes, made if there is none yet.
    func lane(for modes: Set<RunLoop.Mode>) -> Int {
        let (number, added, runLoop): (Int, Lane?, RunLoopReference?) = state.withLock { state in
            if let known = state.lanes.firstIndex(where: { $0.modes == modes }) { return (known, nil, nil) }
            let number = state.pending.addLane()
            let lane = Lane(
                modes: modes, source: RunLoopSource { [drained] in drained.withLock { $0 }?.drain(lane: number) })
            // New storage, because the old one may have been read without the lock: see `ObserverList`.
            state.lanes = state.lanes.map { $0 } + [lane]
            if state.phase == .finishing || state.phase == .finished { lane.source.invalidate() }
            return (number, lane, state.isServed ? state.runLoop : nil)
        }
        if let added, let runLoop { add(added, to: runLoop) }
        return number
    }

    /// From now on nothing but jobs is accepted.
    func close() {
        let signal: Signal? = state.withLock { state in
            guard state.phase == .open || state.phase == .unstarted else { return nil }
            state.phase = .closing
            return Signal(to: 0, of: state)
        }
        signal?.send()
    }

    private typealias Remainder = (items: [MailboxItem], waiters: [RoomWaiter], kept: [Kept], lanes: [Lane])

    // Safety: it is nothing but kept.
    private struct Kept: @unchecked Sendable {
        let object: AnyObject
    }

    /// The thread ends: what waits is counted as having lost its target, and whoever waits for it is told. On the target
    /// thread, or on any if the thread never started.
    func finish() {
        guard
            let (pending, waiters, kept, lanes) = state.withLock({ state -> Remainder? in
                guard state.phase != .finishing, state.phase != .finished else { return nil }
                state.phase = .finishing
                let (items, waiters, kept) = state.pending.removeAll()
                return (items, waiters, kept.map(Kept.init), state.lanes)
            })
        else { return }
        for lane in lanes { lane.source.invalidate() }
        // None is served any more.
        deliverable = DeliverableLanes()
        drained.withLock { $0 = nil }
        postings.finish()
        let chunks = taken.removeAll()
        let taken = chunks.flatMap(\.entries).filter { $0.holder == 0 }.map(\.item)
        var lateJobs = postponedJobs
        postponedJobs = []
        for item in taken + pending {
            if case .job(let job, let thread) = item.action {
                lateJobs.append((job, thread))
            } else {
                item.targetIsGone()
            }
        }
        withExtendedLifetime((chunks, kept)) {}
        for waiter in waiters { waiter.wake() }
        // What is released calls foreign code, which may hand over more; what must run here runs before the thread is over, and
        // what may run elsewhere does afterwards.
        while true {
            releaseHandlers()
            let (isOver, jobs) = state.withLock { state -> (Bool, [MailboxItem]) in
                let jobs = state.pending.removeAll().items
                guard state.toRelease.isEmpty else { return (false, jobs) }
                state.phase = .finished
                // It has descriptors, and tokens may keep this mailbox for long.
                state.runLoop = nil
                return (true, jobs)
            }
            for item in jobs {
                if case .job(let job, let thread) = item.action { lateJobs.append((job, thread)) }
            }
            if isOver { break }
        }
        for (job, thread) in lateJobs { thread.runLate(job) }
    }

    // MARK: Handing over, on any thread

    /// A signal that is to be sent once the lock is released.
    struct Signal: Sendable {
        private let source: RunLoopSource
        private let runLoop: RunLoopReference?
        private let target: ThreadIdentity?

        init(to lane: Int, of state: State) {
            source = state.lanes[lane].source
            runLoop = state.runLoop
            target = state.identity
        }

        func send() {
            DeliveryEvent.trace(.signal, target: target)
            source.signal()
            runLoop?.wakeUp()
        }

        /// On the target thread itself, which is awake.
        func sendToItself() {
            DeliveryEvent.trace(.signal, target: target)
            source.signal()
        }
    }

    /// Called with the lock held.
    func nothingIsPending(unless isSomething: Bool) {
        isPending.store(isSomething, ordering: .relaxed)
    }

    /// Called with the lock held, for it changes what it says.
    @inline(__always)
    func somethingIsPending(_ state: inout State) {
        isPending.store(true, ordering: .relaxed)
        if isLookedFor { state.posterProcessor = sched_getcpu() }
    }

    /// Adds a block or a job to the end.
    /// - Parameter holdsUntilStarted: whether it may wait for a thread that nobody has started yet.
    func append(_ item: MailboxItem, holdsUntilStarted: Bool = false) -> Acceptance {
        let (acceptance, signal): (Acceptance, Signal?) = state.withLock { state in
            switch state.phase {
            case .unstarted: if !holdsUntilStarted { return (.notStarted, nil) }
            case .open: break
            case .closing, .finishing: if !item.isAcceptedWhileClosing { return (.targetGone, nil) }
            case .finished: return (.targetGone, nil)
            }
            guard state.pending.append(item, lane: 0) else { return (.accepted, nil) }
            somethingIsPending(&state)
            return (.accepted, state.lookedAt == 0 ? nil : Signal(to: 0, of: state))
        }
        signal?.send()
        return acceptance
    }

    /// Delivers a notification if this is its thread and its turn; else adds it to the end.
    @inline(__always)
    func post(
        _ notification: Notification, _ posted: PostedNotification, for observer: Registration, _ context: ThreadContext
    ) -> DeliveryOutcome? {
        if observer.isHere(context) {
            switch observer.options.sameThread {
            case .atOnce:
                let overtakes = waits(before: posted, lane: observer.lane)
                return observer.deliverAtOnce(notification, posted, context, overtakes: overtakes)
            case .ordered:
                if isReady(for: observer.lane, context) {
                    return observer.deliverAtOnce(notification, posted, context)
                }
            }
        }
        return append(notification, posted, for: observer, context)
    }

    /// Adds a notification to the end.
    func append(
        _ notification: Notification, _ posted: PostedNotification, for observer: Registration, _ context: ThreadContext
    ) -> DeliveryOutcome? {
        if observer.isMapped {
            switch observer.mapped(notification, posted, context) {
            case .success(let value):
                return append(
                    Notification(name: notification.name, object: value), of: notification, posted, observer, context)
            case .failure(let unprepared):
                return unprepared.outcome
            }
        }
        return append(notification, of: notification, posted, observer, context)
    }

    /// - Parameter handed: what the observer gets of the notification.
    @inline(__always)
    private func append(
        _ handed: Notification, of notification: Notification, _ posted: PostedNotification, _ observer: Registration,
        _ context: ThreadContext
    ) -> DeliveryOutcome? {
        DeliveryEvent.trace(
            .append, name: notification.name, post: posted.number, observer: observer.id, target: identity)
        if observer.isBounded {
            observer.ledger.countPosted()
            return appendBounded(handed, notification, posted, for: observer, isCurrent: observer.isHere(context))
        }
        state.lock()
        guard state.valueWhileLocked.phase == .open || state.valueWhileLocked.phase == .unstarted else {
            state.unlock()
            observer.ledger.countPosted()
            observer.resolve(.targetGone, notification.name, post: posted.number, wait: posted.wait)
            return .targetGone
        }
        observer.ledger.countAppended()
        let mustSignal = state.valueWhileLocked.pending.append(
            MailboxItem(handed, for: observer, post: posted.number, wait: posted.wait), lane: observer.lane)
        observer.keep(in: &state.valueWhileLocked.pending)
        let isToBeSignalled = mustSignal && state.valueWhileLocked.lookedAt != observer.lane
        let signal = isToBeSignalled ? Signal(to: observer.lane, of: state.valueWhileLocked) : nil
        if mustSignal { somethingIsPending(&state.valueWhileLocked) }
        state.unlock()
        if let signal { signal.send() }
        return .waiting
    }

    /// Those who wait for room for an observer that was removed wait no longer.
    func observerWasCancelled(_ id: ObserverID) {
        let waiters = state.withLock { $0.pending.removeWaiters(of: id) }
        for waiter in waiters { waiter.wake() }
    }

    /// Lets go of what may be released on the target thread only.
    func release(_ bound: Unmanaged<NotificationHandler>) {
        let (isHandedOver, signal): (Bool, Signal?) =
            isCurrent
            ? (false, nil)
            : state.withLock { state in
                guard state.phase != .finished else { return (false, nil) }
                state.toRelease.append(bound)
                return (true, state.toRelease.count == 1 ? Signal(to: 0, of: state) : nil)
            }
        signal?.send()
        // When the thread has ended, no thread is wrong.
        if !isHandedOver { bound.release() }
    }

    /// Releases the handlers that other threads handed over for that.
    func releaseHandlers() {
        let handlers = state.withLock { state in
            defer { state.toRelease = [] }
            return state.toRelease
        }
        for handler in handlers { handler.release() }
    }

    // MARK: On the target thread

    /// Whether something for a lane may be delivered at once: its modes are served now, nothing that could be delivered
    /// now waits, and the stack is not too deep.
    @inline(__always)
    func isReady(for lane: Int, _ context: ThreadContext) -> Bool {
        guard context.mayNest, isServedNow(lane) else { return false }
        // What this thread appended it sees, and what others do at the same time may as well come later.
        return taken.waitingLanes == 0 && !isPending.load(ordering: .relaxed) || !waitsForThisMode(lane)
    }

    /// Whether the run loop serves a lane in the mode that it runs in.
    @inline(__always)
    private func isServedNow(_ lane: Int) -> Bool {
        deliverable.contains(lane) { state.withLock { $0.lanes[lane].source }.isDeliverableNow }
    }

    private func waitsForThisMode(_ lane: Int) -> Bool {
        let lanes = state.withLock { $0.lanes }
        return lanes.indices.contains { number in
            !isEmpty(lane: number) && (number == lane || lanes[number].source.isDeliverableNow)
        }
    }

    /// Whether the run loop serves a lane in the mode that it runs in.
    func isDeliverableNow(_ lane: Int) -> Bool {
        state.withLock { $0.lanes[lane].source }.isDeliverableNow
    }

    /// Whether something waits that could be delivered now. Then the run loop is to come to it.
    func signalDeliverable() -> Bool {
        guard let lane = deliverableLanes().first(where: { !isEmpty(lane: $0) }) else { return false }
        state.withLock { $0.lanes[lane].source }.signal()
        return true
    }

    private func isEmpty(lane: Int) -> Bool {
        taken.isEmpty(lane: lane) && state.withLock { $0.pending.isEmpty(lane: lane) }
    }

    func deliverableLanes() -> [Int] {
        let lanes = state.withLock { $0.lanes }
        return lanes.indices.filter { lanes[$0].source.isDeliverableNow }
    }

    /// Runs a job, or what else is isolated to an actor of this thread. Jobs that come up in the middle of it, because it
    /// runs the run loop or waits, are run after it: an actor's jobs do not interleave.
    func runJob(_ job: () -> Void) {
        guard !isRunningJob else { return job() }
        isRunningJob = true
        job()
        while !postponedJobs.isEmpty {
            let (postponed, thread) = postponedJobs.removeFirst()
            thread.runJob(postponed)
        }
        isRunningJob = false
    }

    func runOrPostpone(_ job: UnownedJob, _ thread: RunLoopThread) {
        if isRunningJob { postponedJobs.append((job, thread)) } else { runJob { thread.runJob(job) } }
    }
}

extension MailboxItem {
    fileprivate var isAcceptedWhileClosing: Bool { if case .job = action { true } else { false } }

    fileprivate func targetIsGone() {
        if withObserver({ $0.resolve(.targetGone, self) }) { return }
        switch action {
        case .turns(let held): held.targetIsGone()
        case .block(_, let post): DeliveryEvent.trace(.targetGone, post: post)
        case .performed(let block): block.targetIsGone()
        case .job(let job, let thread): thread.runLate(job)
        case nil: break
        }
    }
}
