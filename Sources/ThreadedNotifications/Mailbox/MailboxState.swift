/// The part of a mailbox that all threads see: a pure value. It says what to do after its lock was released.
///
///     unstarted ──begin─► open ──close──► closing ──end──► ending ──► ended
///     deliveries, jobs    everything      jobs             nothing
struct MailboxState {
    enum Phase {
        case unstarted, open, closing
        /// What waits is being settled. Only what the thread must release is accepted.
        case ending
        case ended
    }

    /// The answer to an append.
    enum Appended {
        case waits
        /// It waits, and is the first: the thread must be woken.
        case wakes(any ThreadSignal)
        case refused
    }

    var phase = Phase.unstarted
    var pending = PendingDeliveries()
    /// Wakes the thread; nil before it serves the mailbox and after its end.
    private(set) var signal: (any ThreadSignal)?
    /// The thread's own signal, if another main loop has replaced it.
    private var replacedSignal: (any ThreadSignal)?
    var ownSignal: (any ThreadSignal)? { replacedSignal ?? signal }
    /// Nil before the thread begins.
    var identity: ThreadIdentity?
    var runLoop: RunLoopReference?
    /// What a drain of the run loop may deliver.
    var drainBudget = DrainBudget.unbounded
    /// What other threads gave up and the thread must release. It has no place in the thread's order.
    var toRelease: [AnyObject] = []
    /// Blocks with a delay that has not passed.
    var delayed: [ObjectIdentifier: PerformedBlock] = [:]
    /// Called when the thread begins.
    var whenBegun: [@Sendable (RunLoopReference) -> Void] = []
    /// The thread's services, by type.
    var services: [ObjectIdentifier: any ThreadService] = [:]
    /// True in a copy of the process that has no copy of the thread.
    var isOfParent = false

    mutating func append(_ delivery: consuming Delivery) -> Appended {
        guard accepts(delivery.content) else { return .refused }
        let isFirst = pending.append(delivery)
        guard isFirst, let signal else { return .waits }
        return .wakes(signal)
    }

    private func accepts(_ content: Delivery.Content) -> Bool {
        switch phase {
        case .open: return true
        case .unstarted:
            if case .block = content { return false }
            if case .performed = content { return false }
            return true
        case .closing: if case .job = content { return true } else { return false }
        case .ending, .ended: return false
        }
    }

    /// The error of a call that would wait for the thread; nil if it can wait.
    func reasonNotToWait(for thread: String) -> DeliveryError? {
        switch phase {
        case .unstarted: .threadNotStarted(thread: thread)
        case .open: nil
        case .closing, .ending, .ended: .threadStopped(thread: thread)
        }
    }

    /// The thread begins.
    /// - Returns: what is called with its run loop.
    mutating func begin(
        _ identity: ThreadIdentity, _ runLoop: RunLoopReference
    ) -> [@Sendable (RunLoopReference) -> Void] {
        (self.identity, self.runLoop) = (identity, runLoop)
        if phase == .unstarted { phase = .open }
        defer { whenBegun = [] }
        return whenBegun
    }

    /// The thread serves the mailbox from now on.
    /// - Returns: the signal, if something waits already or if the mailbox was closed.
    mutating func serve(_ signal: any ThreadSignal) -> (any ThreadSignal)? {
        self.signal = signal
        return pending.isEmpty && toRelease.isEmpty && phase == .open ? nil : signal
    }

    /// Replaces the signal; nil: the thread's own is used again.
    /// - Returns: the signal to send.
    mutating func replaceSignal(_ new: (any ThreadSignal)?) -> (any ThreadSignal)? {
        guard signal != nil else { return nil }
        if let new {
            replacedSignal = signal
            signal = new
        } else if let own = replacedSignal {
            (signal, replacedSignal) = (own, nil)
        }
        return signal
    }

    /// From now on only jobs are accepted.
    /// - Returns: the signal, because the thread ends when it has delivered what waits.
    mutating func close() -> (any ThreadSignal)? {
        guard phase == .open || phase == .unstarted else { return nil }
        phase = .closing
        return signal
    }

    /// Hands an object over to the thread, to be released there.
    /// After the thread's end the caller releases it.
    /// - Returns: the signal, if the thread must be woken.
    mutating func release(_ object: inout AnyObject?) -> (any ThreadSignal)? {
        guard phase != .ended, let taken = object.take() else { return nil }
        toRelease.append(taken)
        return toRelease.count == 1 ? signal : nil
    }

    mutating func takeAllToRelease() -> [AnyObject] {
        defer { if !toRelease.isEmpty { toRelease = [] } }
        return toRelease
    }

    /// The thread ends, or will never begin: nothing is accepted any more.
    /// - Returns: nil if that was done before.
    mutating func end() -> Ended? {
        guard phase != .ending, phase != .ended else { return nil }
        phase = .ending
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

    /// - Returns: what the thread must still release; none: the end is over.
    mutating func finishEnd() -> [AnyObject] {
        if toRelease.isEmpty { phase = .ended }
        return takeAllToRelease()
    }
}
