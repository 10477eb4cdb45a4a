internal import Foundation

/// The state of a mailbox that all threads see. It is behind one lock.
///
///     unstarted ──attach──► open ──close──► closing ──finish──► finishing ──► finished
///      deliveries, jobs    everything       jobs                              nothing is accepted
struct MailboxState {
    typealias Pending = PendingDeliveries<Delivery, RoomWaiter>

    enum Phase {
        case unstarted
        case open
        case closing
        /// As `closing`, while `finish` settles what waits.
        case finishing
        case finished
    }

    /// A queue for one set of run loop modes, and the source that signals it.
    struct ModeQueue: Sendable {
        var modes: Set<RunLoop.Mode>
        var source: RunLoopSource
    }

    /// A signal to send after the lock was released.
    enum Signal: Sendable {
        case event(EventDescriptor)
        /// The run loop is nil before the thread starts, and its source is kept signalled until then.
        case source(RunLoopSource, RunLoopReference?)
        case task(TaskDrain)

        func send(to mailbox: ThreadMailbox) {
            DeliveryEvent.trace(.signal, target: mailbox.identity)
            switch self {
            case .event(let event): event.makeReady()
            case .source(let source, let runLoop):
                source.signal()
                // The thread may have started since.
                (runLoop ?? mailbox.state.withLock { $0.runLoop })?.wakeUp()
            case .task(let drain): drain.mailboxWasSignalled()
            }
        }
    }

    /// What another thread gave up, and the mailbox's thread must release.
    enum ThreadOwned {
        case handler(Unmanaged<ObserverHandler>)
        /// The value of a `ThreadBound`, in the thread's own storage.
        case boundValue(UInt64)

        func release() {
            switch self {
            case .handler(let handler): handler.release()
            case .boundValue(let id): ThreadContext.withCurrent { $0.releaseBoundValue(id) }
            }
        }
    }

    /// What waited when the thread ended: see `ThreadEnd`.
    struct Lost: Sendable {
        var notifications = 0
        var blocks = 0
        var queuedNotifications = 0
    }

    var phase = Phase.unstarted
    /// True in a copy of the process that has no copy of the thread.
    var isOfParent = false
    /// Drains the mailbox, if it belongs to no thread.
    var taskDrain: TaskDrain?
    var pending = Pending()
    var modeQueues: [ModeQueue] = []
    var runLoop: RunLoopReference?
    /// Called when the thread has its run loop.
    var whenAttached: [@Sendable (RunLoopReference) -> Void] = []
    /// The thread's services, by type.
    var services: [ObjectIdentifier: any ThreadService] = [:]
    /// That of `MailboxEvent`, if there is one. It wakes the thread for queue 0.
    var event: EventDescriptor?
    /// True if the run loop has the sources of the queues, and so something to wait for.
    var isServed = false
    var identity: ThreadIdentity?
    /// The queue that the thread watches instead of sleeping. It needs no signal.
    var watchedQueue: Int?
    /// What a drain of the run loop may deliver.
    var drainBudget = DrainBudget.unbounded {
        didSet { wholeSlice = DrainSlice(drainBudget) }
    }
    private(set) var wholeSlice = DrainSlice.unbounded
    /// Blocks with a delay that wait.
    var delayed: [ObjectIdentifier: PerformedBlock] = [:]
    /// It has no place in the thread's order.
    var toRelease: [ThreadOwned] = []
    var lost = Lost()

    @inline(__always)
    var acceptsDeliveries: Bool { phase == .open || phase == .unstarted }

    mutating func takeAllToRelease() -> [ThreadOwned] {
        defer { if !toRelease.isEmpty { toRelease = [] } }
        return toRelease
    }

    /// The error that a thread gets that would wait for this one; nil if it can wait.
    func reasonNotToWait(for description: String) -> DeliveryError? {
        switch phase {
        case .unstarted: .threadNotStarted(thread: description)
        case .open: nil
        case .closing, .finishing, .finished: .threadStopped(thread: description)
        }
    }

    /// The answer to a call that appends a block or a job.
    func acceptance(isJob: Bool) -> ThreadMailbox.Acceptance {
        switch phase {
        case .open: .accepted
        case .unstarted: isJob ? .accepted : .notStarted
        case .closing, .finishing: isJob ? .accepted : .targetGone
        case .finished: .targetGone
        }
    }

    /// The signal for a queue in which the first entry waits.
    @inline(__always)
    func signal(for queue: Int) -> Signal? {
        watchedQueue == queue ? nil : unconditionalSignal(for: queue)
    }

    func unconditionalSignal(for queue: Int) -> Signal {
        if queue == 0, let event { return .event(event) }
        if let taskDrain { return .task(taskDrain) }
        return .source(modeQueues[queue].source, runLoop)
    }
}
