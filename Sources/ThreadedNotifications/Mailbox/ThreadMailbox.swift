internal import Foundation

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
        /// What is to be released on the thread and on no other. They are not in its order, and hold up nothing.
        var toRelease: [Unmanaged<ThreadBoundHandler>] = []
    }

    /// What became of something handed over.
    enum Acceptance {
        case accepted
        case notStarted
        case targetGone
    }

    /// What the thread is called in errors, before it has an identity.
    let threadName: String?

    let state = Locked(State())

    /// What waits in the thread's posting queues.
    let postings = ThreadPostings()

    // Safety: only the target thread touches these, or, if it never started, whoever finishes the mailbox.
    nonisolated(unsafe) var taken = TakenDeliveries<MailboxItem, RoomWaiter>()
    private nonisolated(unsafe) var isRunningJob = false
    private nonisolated(unsafe) var postponedJobs: [(job: UnownedJob, thread: RunLoopThread)] = []

    /// The main thread's.
    static let main: ThreadMailbox = {
        let mailbox = ThreadMailbox(threadName: "main")
        mailbox.attach(
            to: .main, of: ThreadIdentity(number: 1, name: "main", kernelID: SystemThread.processID))
        return mailbox
    }()

    init(threadName: String?) {
        self.threadName = threadName
        _ = lane(for: [.common])
    }

    // MARK: The thread

    /// Whether this is the calling thread's.
    var isCurrent: Bool { ThreadContext.current.mailbox === self }

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
            let lane = Lane(modes: modes, source: RunLoopSource { [weak self] in self?.drain(lane: number) })
            state.lanes.append(lane)
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

    /// The thread ends: what waits is counted as having lost its target, and whoever waits for it is told. On the target
    /// thread, or on any if the thread never started.
    func finish() {
        guard
            let (pending, waiters, lanes) = state.withLock({ state -> ([MailboxItem], [RoomWaiter], [Lane])? in
                guard state.phase != .finishing, state.phase != .finished else { return nil }
                state.phase = .finishing
                let (items, waiters) = state.pending.removeAll()
                return (items, waiters, state.lanes)
            })
        else { return }
        for lane in lanes { lane.source.invalidate() }
        postings.finish()
        let taken = taken.removeAll().compactMap { entry in
            if case .item(let item) = entry.content { item } else { nil }
        }
        var lateJobs = postponedJobs
        postponedJobs = []
        for item in taken + pending {
            if case .job(let job, let thread) = item { lateJobs.append((job, thread)) } else { item.targetIsGone() }
        }
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
            for case .job(let job, let thread) in jobs { lateJobs.append((job, thread)) }
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
            return (.accepted, state.pending.append(item, lane: 0) ? Signal(to: 0, of: state) : nil)
        }
        signal?.send()
        return acceptance
    }

    /// Delivers a notification if this is its thread and its turn; else adds it to the end.
    func post(_ delivery: Delivery, _ posted: PostedNotification) -> PostOutcome {
        let registration = delivery.registration
        let isCurrent = isCurrent
        if isCurrent {
            switch registration.options.sameThread {
            case .atOnce:
                return registration.deliverAtOnce(delivery, overtakes: waits(before: posted, lane: registration.lane))
            case .ordered:
                if isReady(for: registration.lane) { return registration.deliverAtOnce(delivery) }
            }
        }
        DeliveryEvent.trace(
            .append, name: delivery.name, post: delivery.post, observer: registration.id, target: identity)
        if registration.options.overflow != .unbounded {
            return appendBounded(delivery, posted, isCurrent: isCurrent)
        }
        let (isAccepted, signal): (Bool, Signal?) = state.withLock { state in
            guard state.phase == .open || state.phase == .unstarted else { return (false, nil) }
            let mustSignal = state.pending.append(.delivery(delivery), lane: registration.lane)
            return (true, mustSignal ? Signal(to: registration.lane, of: state) : nil)
        }
        signal?.send()
        if isAccepted { return .waiting }
        registration.meet(.targetGone, delivery)
        return .targetGone
    }

    /// Those who wait for room for an observer that was removed wait no longer.
    func observerWasCancelled(_ id: ObserverID) {
        let waiters = state.withLock { $0.pending.removeWaiters(of: id) }
        for waiter in waiters { waiter.wake() }
    }

    /// Lets go of what may be released on the target thread only.
    func release(_ bound: Unmanaged<ThreadBoundHandler>) {
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

    private func releaseHandlers() {
        let handlers = state.withLock { state in
            defer { state.toRelease = [] }
            return state.toRelease
        }
        for handler in handlers { handler.release() }
    }

    // MARK: On the target thread

    /// Whether something for a lane may be delivered at once: its modes are served now, nothing that could be delivered
    /// now waits, and the stack is not too deep.
    func isReady(for lane: Int) -> Bool {
        guard ThreadContext.current.mayNest else { return false }
        let lanes = state.withLock { $0.lanes }
        guard lanes[lane].source.isDeliverableNow else { return false }
        for number in lanes.indices where !isEmpty(lane: number) {
            if number == lane || lanes[number].source.isDeliverableNow { return false }
        }
        return true
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

    private func deliverableLanes() -> [Int] {
        let lanes = state.withLock { $0.lanes }
        return lanes.indices.filter { lanes[$0].source.isDeliverableNow }
    }

    /// Delivers what waits in the run loop's mode, so that what follows does not overtake it.
    func deliverWaiting() {
        ThreadContext.current.nest("what waits here") { drain(deliverableLanes()) }
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

    private func runOrPostpone(_ job: UnownedJob, _ thread: RunLoopThread) {
        if isRunningJob { postponedJobs.append((job, thread)) } else { runJob { thread.runJob(job) } }
    }

    /// A lane was signalled.
    private func drain(lane: Int) {
        let lanes = state.withLock { $0.lanes }
        drain(lanes.count == 1 ? [lane] : lanes.indices.filter { $0 == lane || lanes[$0].source.isDeliverableNow })
    }

    /// Delivers all that waits in these lanes, and nothing that is appended meanwhile: for that there was a signal.
    private func drain(_ lanes: [Int]) {
        releaseHandlers()
        state.withLock { state in
            for lane in lanes {
                taken.take(lane: lane) { state.pending.takeAll(lane: lane, into: &$0) }
            }
        }
        DeliveryEvent.trace(.drain)
        if taken.hasMoreThanOne(in: lanes) {
            // A handler may run the run loop, which then finds the rest.
            let signals = state.withLock { state in
                lanes.filter { !taken.isEmpty(lane: $0) }.map { Signal(to: $0, of: state) }
            }
            for signal in signals { signal.send() }
        }
        while let entry = taken.takeFirst(of: lanes) {
            switch entry.content {
            case .item(let item):
                deliver(item)
            case .held(let observer):
                let (item, waiter) = state.withLock { $0.pending.takeHeld(by: observer, place: entry.place) }
                waiter?.wake()
                if let item { deliver(item) }
            }
        }
    }

    private func deliver(_ item: MailboxItem) {
        switch item {
        case .delivery(let delivery): _ = delivery.registration.deliver(delivery, overtakes: false)
        case .block(let block, let post): ThreadContext.current.perform(block, post: post, wait: nil)
        case .performed(let block): block.perform()
        case .job(let job, let thread): runOrPostpone(job, thread)
        }
    }
}

extension MailboxItem {
    fileprivate var isAcceptedWhileClosing: Bool {
        switch self {
        case .job: true
        case .delivery, .block, .performed: false
        }
    }

    fileprivate func targetIsGone() {
        switch self {
        case .delivery(let delivery): delivery.registration.meet(.targetGone, delivery)
        case .block(_, let post): DeliveryEvent.trace(.targetGone, post: post)
        case .performed(let block): block.targetIsGone()
        case .job(let job, let thread): thread.runLate(job)
        }
    }
}
