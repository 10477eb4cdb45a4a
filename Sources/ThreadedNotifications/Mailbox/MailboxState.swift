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
    /// The process's when the thread began: see `ForkedCopy`.
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
    private(set) var signal: (any ThreadSignal)?
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

    /// The thread serves the mailbox from now on.
    /// - Returns: whether to send the signal.
    mutating func serve(_ signal: any ThreadSignal) -> Bool {
        self.signal = signal
        return !pending.isEmpty || !toRelease.isEmpty || phase != .open
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
