internal import CLinux
internal import Foundation
internal import Synchronization

/// The deliveries that wait for one thread: the document's "custom notification queue", one for each thread, before its
/// run loop. Notifications, blocks and jobs for the thread share it, and keep their order.
///
/// State that all threads see is `MailboxState`; state of the target thread is `DrainState`.
/// Threads: methods that take a `ThreadContext` of the target thread, and those marked so, are called there; the others
/// on any thread.
final class ThreadMailbox: Sendable {
    /// The result of appending a block or a job.
    enum Acceptance {
        case accepted
        case notStarted
        case targetGone
    }

    /// The thread's name in errors, before it has an identity.
    let threadName: String?
    let isMain: Bool
    private let spins: Bool
    let state = Locked(MailboxState(), isTakenToFork: true)
    /// Set while entries are pending.
    let arrivals: ArrivalFlag
    /// The mailbox itself until it is finished, for the sources of its queues. Every mailbox is finished; a weak
    /// reference would make each use of the mailbox slower.
    private let drained = Locked<ThreadMailbox?>(nil)
    let endObservers = ThreadEndObservers()

    /// The main thread's mailbox.
    static let main: ThreadMailbox = {
        let mailbox = ThreadMailbox(threadName: "main", isMain: true)
        mailbox.attach(
            to: .main, of: ThreadIdentity(number: 1, name: "main", kernelID: SystemThread.processID))
        MainThreadEnd.watch()
        return mailbox
    }()

    /// - Parameter spins: whether the thread watches for more before it sleeps.
    init(threadName: String?, isMain: Bool = false, spins: Bool = false) {
        self.threadName = threadName
        self.isMain = isMain
        self.spins = spins
        arrivals = ArrivalFlag(isWatched: spins)
        drained.withLock { $0 = self }
        if isMain { state.withLock { $0.drainBudget = .ofMain } }
        _ = queue(for: [.common])
        ForkedCopy.add(self)
    }

    /// Creates a mailbox that belongs to no thread, for one observer with an async handler.
    init(drainedBy taskDrain: TaskDrain) {
        threadName = taskDrain.thread.map { "a task on \($0.name)" } ?? "a task"
        isMain = false
        spins = false
        arrivals = ArrivalFlag(isWatched: false)
        state.withLock { ($0.phase, $0.taskDrain) = (.open, taskDrain) }
        _ = queue(for: [.common])
        taskDrain.attach(to: self)
        ForkedCopy.add(self)
    }

    deinit {
        ForkedCopy.remove(self)
    }

    // MARK: The thread

    /// Drains the mailbox, if it belongs to no thread.
    var taskDrain: TaskDrain? { state.withLock { $0.taskDrain } }

    /// True in the task that drains the mailbox, and so in the async handler of its observer.
    var isInCurrentTask: Bool { taskDrain?.isInCurrentTask ?? false }

    /// True if this is the calling thread's mailbox.
    var isCurrent: Bool { ThreadContext.withCurrent { $0.owns(.passUnretained(self)) } }

    /// The target thread; nil before it started.
    var identity: ThreadIdentity? { state.withLock { $0.identity } }

    /// The thread that must run before a delivery is made: the target thread, or the one that the task of an async
    /// handler prefers. In that task it is the calling thread, because the task delivers nothing until its handler
    /// returns.
    var requiredThread: ThreadIdentity? { identity ?? (isInCurrentTask ? .current : taskDrain?.thread?.identity) }

    /// True if the thread's run loop serves the mailbox.
    var isServed: Bool { state.withLock { $0.isServed } }

    /// True in a copy of the process that has no copy of this thread.
    var isOfParent: Bool { state.withLock { $0.isOfParent } }

    var isFinished: Bool { state.withLock { $0.phase == .finished } }

    var isOpen: Bool { state.withLock { $0.phase == .open } }

    /// True from `close()` or `finish()` on.
    var isStopping: Bool { state.withLock { $0.phase != .unstarted && $0.phase != .open } }

    /// The thread's name in errors.
    var description: String { threadName ?? identity.map(\.description) ?? "a thread" }

    /// The thread as events name it.
    var numberAndName: String { identity.map(\.description) ?? description }

    /// The error of a call that would wait for this thread; nil if it can wait.
    var reasonNotToWait: DeliveryError? {
        if let thread = taskDrain?.thread, thread.identity == nil { return thread.mailbox.reasonNotToWait }
        let description = description
        return state.withLock { $0.reasonNotToWait(for: description) }
    }

    /// Gives the mailbox to the calling thread, or to the main thread.
    /// - Parameter isServed: whether the run loop serves it from now on; otherwise from `serve()` on.
    func attach(to runLoop: RunLoopReference, of identity: ThreadIdentity, isServed: Bool = true) {
        let whenAttached = state.withLock { state in
            state.runLoop = runLoop
            state.identity = identity
            if state.phase == .unstarted { state.phase = .open }
            defer { state.whenAttached = [] }
            return state.whenAttached
        }
        if spins { ThreadContext.current.drainState.spinner = Spinner() }
        if isServed { serve() }
        for body in whenAttached { body(runLoop) }
    }

    /// Adds the mailbox to the thread's run loop, which then has something to wait for. On the target thread.
    func serve() {
        let (queues, runLoop) = state.withLock { state -> ([MailboxState.ModeQueue], RunLoopReference?) in
            guard !state.isServed else { return ([], nil) }
            state.isServed = true
            return (state.modeQueues, state.runLoop)
        }
        guard let runLoop else { return }
        for queue in queues { Self.add(queue, to: runLoop) }
    }

    private static func add(_ queue: MailboxState.ModeQueue, to runLoop: RunLoopReference) {
        for mode in queue.modes { queue.source.add(to: runLoop, mode: mode) }
        // An earlier signal did not wake the run loop.
        runLoop.wakeUp()
    }

    /// Lets an event wake the thread for queue 0, if that is possible. On the target thread, before its run loop runs.
    func wakeByEvent() {
        guard let event = MailboxEvent() else { return }
        state.withLock { $0.event = event.descriptor }
        ThreadContext.withCurrent { $0.drainState.event = event }
    }

    /// The index of the queue for a set of modes, which is added if there is none.
    func queue(for modes: Set<RunLoop.Mode>) -> Int {
        typealias Added = (index: Int, queue: MailboxState.ModeQueue?, runLoop: RunLoopReference?)
        let (index, added, runLoop): Added = state.withLock { state in
            if let known = state.modeQueues.firstIndex(where: { $0.modes == modes }) { return (known, nil, nil) }
            let index = state.pending.addQueue()
            let queue = MailboxState.ModeQueue(
                modes: modes,
                source: RunLoopSource { [drained] in
                    guard let mailbox = drained.withLock({ $0 }) else { return }
                    // A thread of a copy that has the run loop of a thread of the parent.
                    if ForkedCopy.isCopy, mailbox.isOfParent { return }
                    Drain.run(mailbox, signalled: index)
                })
            // A new array, because other threads may still read the old one without the lock: see `ObserverList`.
            state.modeQueues = state.modeQueues.map { $0 } + [queue]
            if state.phase == .finishing || state.phase == .finished { queue.source.invalidate() }
            return (index, queue, state.isServed ? state.runLoop : nil)
        }
        if let added, let runLoop { Self.add(added, to: runLoop) }
        return index
    }

    /// The reason of what is `targetGone`; nil if the thread has ended, or was told to stop.
    var reasonItIsGone: DeliveryEvent.Reason? { identity == nil ? .notStarted : nil }

    /// Notes that the mailbox refused something that is lost, and warns if it is the main thread's.
    func noteLoss() -> DeliveryEvent.Reason? {
        if isMain { MainThreadEnd.warn() }
        return reasonItIsGone
    }

    /// From now on only jobs are accepted.
    func close() {
        let signal: MailboxState.Signal? = state.withLock { state in
            guard state.phase == .open || state.phase == .unstarted else { return nil }
            state.phase = .closing
            return state.unconditionalSignal(for: 0)
        }
        signal?.send(to: self)
    }

    /// The process is a copy that begins. The caller holds the locks.
    /// - Parameter hasEnded: whether the copy has no copy of this thread.
    func processWasCopied(newIdentity: ThreadIdentity?, hasEnded: Bool) {
        if let newIdentity { state.valueWhileLocked.identity = newIdentity }
        guard hasEnded, state.valueWhileLocked.phase != .unstarted else { return }
        state.valueWhileLocked.phase = .finished
        state.valueWhileLocked.isOfParent = true
        let identity = state.valueWhileLocked.identity
        endObservers.threadIsOfParent(ThreadEnd(thread: identity, name: threadName ?? identity?.name))
    }

    // MARK: Enqueue

    /// Appends a notification for an observer, and signals the thread if nothing waited for it. `context` is the
    /// posting thread's.
    /// - Returns: `waiting`, or the outcome if the notification does not wait; nil if the observer's transform returned
    ///   nil.
    @inline(__always)
    func enqueue(
        _ notification: Notification, _ post: Post, for observer: Observer, _ context: ThreadContext
    ) -> DeliveryOutcome? {
        if observer.transforms || observer.isBounded || post.wait != nil {
            return enqueueAnyKind(notification, post, for: observer, context)
        }
        let notification = notification.kept(at: post.location)
        return enqueue(
            Delivery(notification, for: observer, post: post.number, wait: nil), named: notification.name, post.number,
            nil, for: observer)
    }

    /// Appends a notification that the center retained, for a new observer.
    func enqueueRetained(
        _ notification: Notification, _ post: Post, for observer: Observer, _ context: ThreadContext
    ) -> DeliveryOutcome? {
        enqueueAnyKind(notification, post, for: observer, context, isRetained: true)
    }

    @inline(never)
    private func enqueueAnyKind(
        _ notification: Notification, _ post: Post, for observer: Observer, _ context: ThreadContext,
        isRetained: Bool = false
    ) -> DeliveryOutcome? {
        if let message = post.message, message.typeIdentifier == observer.messageType, !observer.isBounded, !isRetained
        {
            let message = message.copy
            return enqueue(
                Delivery(message: message, for: observer, post: post.number, wait: post.wait),
                named: notification.name, post.number, post.wait, for: observer)
        }
        var (delivery, outcome) = delivery(of: notification, post, for: observer, context)
        if isRetained { delivery = delivery?.retained }
        guard let delivery else { return outcome }
        return enqueue(delivery, object: notification.object, at: post.location, for: observer, context)
    }

    /// The delivery of a notification, which calls the observer's transform.
    /// - Returns: the delivery; or the outcome, which is nil if the transform returned nil.
    func delivery(
        of notification: Notification, _ post: Post, for observer: Observer, _ context: ThreadContext
    ) -> (delivery: Delivery?, outcome: DeliveryOutcome?) {
        guard observer.transforms else {
            let notification = notification.kept(at: post.location)
            return (Delivery(notification, for: observer, post: post.number, wait: post.wait), nil)
        }
        let (value, outcome) = ObserverCall.transform(notification, for: observer, of: post, context)
        guard let value else { return (nil, outcome) }
        return (
            Delivery(value: value, named: notification.name, for: observer, post: post.number, wait: post.wait), nil
        )
    }

    /// Appends a delivery for an observer with any overflow policy.
    /// - Parameter object: the notification's object, for the policy `keepLatest`.
    func enqueue(
        _ delivery: Delivery, object: Any?, at location: SourceLocation, for observer: Observer,
        _ context: ThreadContext
    ) -> DeliveryOutcome {
        guard observer.isBounded else {
            return enqueue(
                delivery, named: delivery.notification.name, delivery.post, delivery.wait, for: observer)
        }
        return BoundedEnqueue(delivery, object: NotificationObject(object), for: observer, in: self).run()
    }

    /// - Parameter delivery: created when it is appended, because copying it would count references.
    @inline(__always)
    private func enqueue(
        _ delivery: @autoclosure () -> Delivery, named name: Notification.Name, _ post: UInt64, _ wait: DeliveryWait?,
        for observer: Observer
    ) -> DeliveryOutcome {
        DeliveryEvent.trace(.append, name: name, post: post, observer: observer.id, target: identity)
        state.lock()
        guard state.valueWhileLocked.acceptsDeliveries else {
            state.unlock()
            observer.counters.countPosted()
            ObserverCall.resolve(observer, .targetGone, name, post: post, wait: wait, reason: noteLoss())
            return .targetGone
        }
        observer.counters.countEnqueued()
        let mustSignal = state.valueWhileLocked.pending.append(delivery(), to: observer.modeQueue)
        if observer.enters(chunk: state.valueWhileLocked.pending.lastChunk(of: observer.modeQueue)) {
            state.valueWhileLocked.pending.retain(observer, in: observer.modeQueue)
        }
        let signal = mustSignal ? state.valueWhileLocked.signal(for: observer.modeQueue) : nil
        if mustSignal { arrivals.set() }
        state.unlock()
        signal?.send(to: self)
        return .waiting
    }

    /// Appends a block.
    /// - Throws: `DeliveryError` with the code `threadNotStarted` or `threadStopped`.
    func enqueue(_ block: @escaping @Sendable () -> Void, post: UInt64) throws(DeliveryError) {
        DeliveryEvent.trace(.append, post: post, target: identity)
        let acceptance = enqueue(Delivery(.block(block), post: post), isJob: false)
        guard acceptance != .accepted else { return }
        DeliveryEvent.trace(.targetGone, post: post, target: identity, reason: reasonItIsGone)
        throw acceptance == .notStarted
            ? .threadNotStarted(thread: description) : .threadStopped(thread: description)
    }

    /// Appends a block or a job.
    func enqueue(_ action: Delivery.Action) -> Acceptance {
        let isJob = if case .job = action { true } else { false }
        return enqueue(Delivery(action), isJob: isJob)
    }

    /// - Parameter delivery: consumed, because copying it would count references. The caller retains the block, so that
    ///   it is not released with the lock held.
    @inline(__always)
    private func enqueue(_ delivery: consuming Delivery, isJob: Bool) -> Acceptance {
        state.lock()
        let acceptance = state.valueWhileLocked.acceptance(isJob: isJob)
        var mustSignal = false
        if acceptance == .accepted { mustSignal = state.valueWhileLocked.pending.append(delivery, to: 0) }
        let signal = mustSignal ? state.valueWhileLocked.signal(for: 0) : nil
        if mustSignal { arrivals.set() }
        state.unlock()
        signal?.send(to: self)
        return acceptance
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

    /// An observer was removed: the threads that wait for room for it stop waiting.
    func observerWasCancelled(_ id: ObserverID) {
        let waiters = state.withLock { $0.pending.removeWaiters(of: id) }
        for waiter in waiters { waiter.wake() }
    }

    /// Releases a handler or a bound value on the target thread. After the thread has ended, the calling thread
    /// releases a handler; the ending thread releases its bound values itself.
    func release(_ owned: MailboxState.ThreadOwned) {
        let (isHandedOver, signal): (Bool, MailboxState.Signal?) =
            isCurrent
            ? (false, nil)
            : state.withLock { state in
                guard state.phase != .finished else { return (false, nil) }
                state.toRelease.append(owned)
                return (true, state.toRelease.count == 1 ? state.unconditionalSignal(for: 0) : nil)
            }
        signal?.send(to: self)
        if !isHandedOver { owned.release() }
    }

    /// Releases the handlers and values that other threads passed to this one. On the target thread.
    func releaseOwned() {
        let toRelease = state.withLock { $0.takeAllToRelease() }
        for owned in toRelease { owned.release() }
    }

    // MARK: On the target thread: deliver at once

    /// True if a delivery for a queue may be made at once: its modes are served now, no other delivery that could be
    /// made now waits, and the stack is not too deep.
    /// - Parameter ownNumber: the first sequence number of the post's own entries, which are no other deliveries.
    @inline(__always)
    func isReady(_ queue: Int, ownNumbersFrom ownNumber: UInt64 = .max, _ context: ThreadContext) -> Bool {
        guard context.mayNest, isServed(queue, context) else { return false }
        // The flag shows everything that this thread enqueued. Entries that other threads enqueue now may come later.
        return context.drainState.taken.waitingQueues == 0 && !arrivals.isSet
            || !deliveriesWait(for: queue, before: ownNumber, context)
    }

    /// True if the run loop serves a queue in its current mode.
    @inline(__always)
    private func isServed(_ queue: Int, _ context: ThreadContext) -> Bool {
        context.drainState.servedModes.contains(queue) { isServedNow(queue) }
    }

    func isServedNow(_ queue: Int) -> Bool {
        state.withLock { $0.modeQueues[queue].source }.isDeliverableNow
    }

    private func deliveriesWait(for queue: Int, before number: UInt64, _ context: ThreadContext) -> Bool {
        let queues = state.withLock { $0.modeQueues }
        return queues.indices.contains { index in
            hasEntry(before: number, in: index, context) && (index == queue || queues[index].source.isDeliverableNow)
        }
    }

    private func isEmpty(_ queue: Int, _ context: ThreadContext) -> Bool {
        context.drainState.taken.isEmpty(queue) && state.withLock { $0.pending.isEmpty(queue) }
    }

    /// Delivers to an observer on this thread, or appends if its order requires that.
    /// - Parameter ownNumber: the first sequence number of this post's own entries. They do not count as waiting.
    @inline(__always)
    func deliverAtOnce(
        _ notification: Notification, _ post: Post, to observer: Observer, ownNumbersFrom ownNumber: UInt64 = .max,
        _ context: ThreadContext
    ) -> DeliveryOutcome? {
        switch observer.sameThread {
        case .ordered where isReady(observer.modeQueue, context):
            return ObserverCall.runAtOnce(observer, with: notification, of: post, context)
        case .ordered, .later:
            return enqueue(notification, post, for: observer, context)
        case .atOnce:
            return ObserverCall.runAtOnce(
                observer, with: notification, of: post, context,
                overtakes: hasEntry(before: ownNumber, in: observer.modeQueue, context))
        }
    }

    private func hasEntry(before number: UInt64, in queue: Int, _ context: ThreadContext) -> Bool {
        context.drainState.taken.hasEntry(before: number, in: queue)
            || state.withLock { $0.pending.hasEntry(before: number, in: queue) }
    }

    /// The queues that the run loop serves in its current mode.
    func servedQueues() -> [Int] {
        let queues = state.withLock { $0.modeQueues }
        return queues.indices.filter { queues[$0].source.isDeliverableNow }
    }

    func signalItself(_ queue: Int) {
        state.withLock { $0.modeQueues[queue].source }.signal()
    }

    /// True if the thread must not sleep: something waits in queue 0, or the mailbox is closed.
    var hasWork: Bool {
        state.withLock { !$0.pending.isEmpty(0) || !$0.toRelease.isEmpty || $0.phase != .open }
    }

    /// True if something waits in queue 0, also if a drain has taken it already. On the target thread.
    func deliveriesRemain(_ context: ThreadContext) -> Bool {
        !isEmpty(0, context) || state.withLock { !$0.toRelease.isEmpty }
    }

    /// The sequence number of the next entry.
    var nextNumber: UInt64 { state.withLock { $0.pending.nextNumber } }

    // MARK: Finish

    /// Settles what waits with the outcome `targetGone` when the thread ends. On the target thread; or on any thread if
    /// the target thread never started.
    /// - Returns: false if another call did or does that.
    @discardableResult
    func finish() -> Bool {
        state.lock()
        guard state.valueWhileLocked.phase != .finishing, state.valueWhileLocked.phase != .finished else {
            state.unlock()
            return false
        }
        state.valueWhileLocked.phase = .finishing
        let (pending, waiters, pendingChunks) = state.valueWhileLocked.pending.removeAll()
        let queues = state.valueWhileLocked.modeQueues
        let delayed = state.valueWhileLocked.delayed
        state.valueWhileLocked.delayed = [:]
        state.valueWhileLocked.event = nil
        let services = state.valueWhileLocked.services
        state.valueWhileLocked.services = [:]
        state.valueWhileLocked.whenAttached = []
        state.unlock()

        for queue in queues { queue.source.invalidate() }
        drained.withLock { $0 = nil }
        let reason = reasonItIsGone
        var lost = MailboxState.Lost()
        for service in services.values { lost.queuedNotifications += service.threadEnds(reason) }
        let (takenChunks, postponed) = removeDrainState()
        let taken = takenChunks.flatMap(\.entries).filter { $0.holder == 0 }.map(\.item)
        if isMain, lost.queuedNotifications > 0 || !taken.isEmpty || !pending.isEmpty || !delayed.isEmpty {
            MainThreadEnd.warn()
        }
        var lateJobs = postponed
        for delivery in taken + pending {
            if case .job(let job, let thread) = delivery.action {
                lateJobs.append((job, thread))
            } else {
                Self.targetIsGone(delivery, reason, &lost)
            }
        }
        // Those that were due have been counted above.
        for block in delayed.values { block.targetIsGone(reason) }
        withExtendedLifetime((takenChunks, pendingChunks)) {}
        for waiter in waiters { waiter.wake() }
        // Releasing handlers calls foreign code, which may enqueue more jobs. Handlers must be released before the
        // thread ends; late jobs run on another thread afterwards.
        while true {
            releaseOwned()
            let (isOver, jobs) = state.withLock { [lost] state -> (Bool, [Delivery]) in
                let jobs = state.pending.removeAll().items
                guard state.toRelease.isEmpty else { return (false, jobs) }
                state.phase = .finished
                state.lost = lost
                // Tokens may keep this mailbox, and the run loop has descriptors.
                state.runLoop = nil
                return (true, jobs)
            }
            for delivery in jobs {
                if case .job(let job, let thread) = delivery.action { lateJobs.append((job, thread)) }
            }
            if isOver { break }
        }
        for (job, thread) in lateJobs { thread.runLate(job) }
        return true
    }

    /// Tells the observers of the thread's end. Called after `finish()`, when the thread has released everything else.
    func reportEnd() {
        let (identity, lost) = state.withLock { ($0.identity, $0.lost) }
        endObservers.threadEnded(
            ThreadEnd(
                thread: identity, name: threadName ?? identity?.name, lostNotifications: lost.notifications,
                lostBlocks: lost.blocks, lostQueuedNotifications: lost.queuedNotifications))
    }

    /// Removes the target thread's part of the entries; there is none if the target thread never started.
    private func removeDrainState() -> (
        chunks: [DeliveryChunk<MailboxState.Pending.Entry>], jobs: [(job: UnownedJob, thread: RunLoopThread)]
    ) {
        ThreadContext.withCurrent { context in
            guard context.owns(.passUnretained(self)) else { return ([], []) }
            context.drainState.servedModes = ServedModes()
            context.drainState.event = nil
            return (context.drainState.taken.removeAll(), context.drainState.jobs.takeAllPostponed())
        }
    }

    private static func targetIsGone(
        _ delivery: Delivery, _ reason: DeliveryEvent.Reason?, _ lost: inout MailboxState.Lost
    ) {
        if delivery.withObserver({ ObserverCall.resolve($0, .targetGone, delivery, reason: reason) }) {
            lost.notifications += 1
            return
        }
        switch delivery.action {
        case .block:
            DeliveryEvent.trace(.targetGone, post: delivery.post, reason: reason)
            lost.blocks += 1
        case .fanOut(let fanOut, let slot): lost.notifications += fanOut.targetIsGone(from: slot, reason)
        case .performed(let block): if block.targetIsGone(reason) { lost.blocks += 1 }
        case .job, nil: break
        }
    }
}
