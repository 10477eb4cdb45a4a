internal import Foundation

/// What waits in the posting queues of one thread, in front of its run loop.
///
///     enqueue ─► buffer ─► run loop observer, or probe ─► post
///
/// Threads: what is marked so is called on the queues' thread only; the rest on any.
final class ThreadPostings: Sendable {
    struct State {
        var buffer = CoalescingBuffer<EnqueuedNotification>()
        var senders = SenderTable<NotificationObject>()
        var lanes = PostingLanes()
        var isFinished = false
        var defaultQueues: [ObjectIdentifier: DefaultQueue] = [:]
        /// When to look for those whose centers are gone.
        var defaultQueuesLimit = 16
    }

    /// The thread's default queue for a center, as long as that lives.
    struct DefaultQueue: Sendable {
        var center: WeakObject
        var ledger: PostingLedger
        var queue: WeakObject
    }

    let state = Locked(State())

    // Safety: only the queues' thread touches these, or, if it never started, whoever finishes its mailbox.
    nonisolated(unsafe) var watch = IdleWatch()
    nonisolated(unsafe) var probe: RunLoopProbe?
    /// How many observers are being told, one in another's handlers.
    nonisolated(unsafe) var depth = 0
    /// How many posts are under way, one in another's handlers.
    nonisolated(unsafe) var posts = 0
    /// The mode of the run that will look for what waits before it waits itself; nil if it may have looked already.
    nonisolated(unsafe) var looksIn: RunningMode?
    /// Before it waits, the run loop has to look whether its time is over, and whether there is anything left to wait for.
    nonisolated(unsafe) var mustGoRound = false
    nonisolated(unsafe) var returns = RunLoopReturns()

    // MARK: The thread

    /// Gives the queues their thread.
    func attach(to runLoop: RunLoopReference) {
        state.withLock { $0.lanes.attach(to: runLoop) }
        // What was enqueued before now woke nobody.
        runLoop.wakeUp()
    }

    /// The lane for a set of modes, made if there is none yet.
    private func lane(for modes: Set<RunLoop.Mode>) -> Int {
        state.withLock { state in
            if let known = state.lanes.number(of: modes) { return known }
            if state.lanes.observers.isEmpty { state.lanes.addObserver(makeObserver(depth: 0)) }
            return state.lanes.addLane(modes)
        }
    }

    private func makeObserver(depth: Int) -> RunLoopObserver {
        RunLoopObserver { [weak self] activity in self?.runLoop(activity, observer: depth) }
    }

    /// On the thread: has an observer for handlers that run the run loop while those of lesser depth are being called.
    func prepareObserver(depth: Int) {
        state.withLock { state in
            if state.lanes.observers.count == depth { state.lanes.addObserver(makeObserver(depth: depth)) }
        }
    }

    /// The thread ends, or will never start: what waits is counted as having lost its target.
    func finish() {
        let (waiting, last) = state.withLock { state in
            let last = state
            state = State()
            state.isFinished = true
            var buffer = last.buffer
            return (buffer.removeAll(), last)
        }
        last.lanes.invalidate()
        probe = nil
        for item in waiting { item.meet(.targetGone) }
    }

    // MARK: Enqueuing, on any thread

    /// - Parameter mailbox: the thread's.
    func enqueue(
        _ item: EnqueuedNotification, style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, keepsEarliest: Bool, modes: Set<RunLoop.Mode>,
        mailbox: ThreadMailbox
    ) -> EnqueueReport {
        let name = item.notification.name
        let lane = lane(for: modes)
        let isCurrent = mailbox.isCurrent
        let isOwnInput = isCurrent && posts == 0
        let isPostedHere = style == .now && isCurrent && ThreadContext.current.mayNest
        DeliveryEvent.trace(
            .enqueue, name: name, post: item.number, target: mailbox.identity, postingStyle: style, place: item.place,
            sender: NotificationObject(item.notification.object))
        let enqueued = withSender(NotificationObject(item.notification.object)) { state, sender -> Enqueued? in
            guard !state.isFinished else {
                if case .value(let number) = sender { _ = state.senders.release(number) }
                return nil
            }
            if case .value(let number) = sender { item.senderNumber = number }
            let buffered = state.buffer.enqueue(
                item, .init(queue: item.ledger.queue, name: name, sender: sender), style: style, lane: lane, mask: mask,
                keepsEarliest: keepsEarliest && style != .now)
            // What is posted at once needs no run loop; if it has to wait after all, that is made good below.
            let isSourceGone = !isPostedHere && state.willWait(in: buffered.lane, isOwnInput: isOwnInput)
            return Enqueued(
                buffered: buffered, isSourceGone: isSourceGone, runLoop: state.lanes.runLoop,
                gone: state.releaseSenders(of: buffered.coalesced))
        }
        guard let enqueued else {
            item.meet(.targetGone)
            return EnqueueReport(outcome: .targetGone, removed: 0)
        }
        let buffered = enqueued.buffered
        for other in buffered.coalesced { other.meet(.coalesced, for: item.number) }
        if isPostedHere, let place = buffered.place {
            postNow(through: place)
            if item.fate == nil {
                _ = state.withLock { $0.willWait(in: lane, isOwnInput: isOwnInput) }
            }
        }
        // What is posted here may have removed the last that waited.
        let isSourceGone = enqueued.isSourceGone || (isPostedHere && !buffered.coalesced.isEmpty)
        if isSourceGone || (buffered.mustWake && item.fate == nil) {
            if !isCurrent { DeliveryEvent.trace(.signal, target: mailbox.identity) }
            wake(enqueued.runLoop, isCurrent: isCurrent, isSourceGone: isSourceGone)
        }
        guard buffered.place != nil else {
            return EnqueueReport(outcome: .coalesced, removed: buffered.coalesced.count - 1)
        }
        return EnqueueReport(outcome: DeliveryOutcome(item.fate), removed: buffered.coalesced.count)
    }

    /// What the lock is released with.
    private struct Enqueued: Sendable {
        var buffered: CoalescingBuffer<EnqueuedNotification>.Enqueued
        var isSourceGone: Bool
        var runLoop: RunLoopReference?
        /// To be let go of.
        var gone: [NotificationObject]
    }

    /// Has the run loop look at what waits, and whether there is anything to wait for.
    private func wake(_ runLoop: RunLoopReference?, isCurrent: Bool, isSourceGone: Bool) {
        // The queue's own thread looks before it waits. To wake it for each pass would keep the main queue waiting, to which
        // CoreFoundation comes last; so only if it may have looked already, or runs in a mode in which nobody told it to.
        if isCurrent, let looksIn, looksIn == .current {
            if isSourceGone { mustGoRound = true }
        } else {
            runLoop?.wakeUp()
        }
    }

    /// Takes out what waits in this queue and is similar.
    /// - Returns: how many.
    func dequeue(
        matching notification: Notification, mask: NotificationQueue.NotificationCoalescing, queue: UInt64,
        isCurrent: Bool
    ) -> Int {
        // Where senders do not matter, they need not be compared.
        let object = mask.contains(.onSender) ? NotificationObject(notification.object) : .none
        let name = notification.name
        let (removed, _, goneFrom) = withSender(object, isNew: false) { state, sender in
            let removed = state.buffer.dequeue(matching: .init(queue: queue, name: name, sender: sender), mask)
            let isSourceGone = state.updateSources()
            return (removed, state.releaseSenders(of: removed), isSourceGone ? state.lanes.runLoop : nil)
        }
        if let goneFrom { wake(goneFrom, isCurrent: isCurrent, isSourceGone: true) }
        for item in removed { item.meet(.dequeued) }
        return removed.count
    }

    /// Calls `body` with the lock held and the sender as the buffer knows it.
    /// - Parameter isNew: whether it is numbered, and the number used, if it is a value; else one that no other is equal to is
    ///   similar to nothing.
    private func withSender<Result: Sendable>(
        _ object: NotificationObject, isNew: Bool = true,
        _ body: @Sendable (inout State, CoalescingBuffer<EnqueuedNotification>.Sender) -> Result
    ) -> Result {
        switch object {
        case .none: return state.withLock { body(&$0, .none) }
        case .object(let object): return state.withLock { body(&$0, .object(ObjectIdentifier(object))) }
        case .incomparable: return state.withLock { body(&$0, .incomparable) }
        case .value: break
        }
        let hash = object.hash ?? 0
        for _ in 0..<100 {
            // To compare values is foreign code, so it is done without the lock, and again if there are others by then.
            let candidates = state.withLock { $0.senders.candidates(hash: hash) }
            let same = candidates.first { $0.value.isSame(as: object) }?.number
            let result = state.withLock { state -> Result? in
                if !isNew { return body(&state, same.map { .value($0) } ?? .incomparable) }
                guard
                    let number = state.senders.use(object, hash: hash, same: same, of: candidates.map(\.number))
                else { return nil }
                return body(&state, .value(number))
            }
            if let result { return result }
        }
        // Each comparison makes another one necessary, by enqueuing: one that is never over is none.
        return state.withLock { body(&$0, .incomparable) }
    }
}

extension ThreadPostings.State {
    /// To be called when something was added or removed.
    /// - Returns: whether a source is gone.
    mutating func updateSources() -> Bool {
        lanes.update { buffer.isWaiting(lane: $0) }
    }

    /// Something waits in a lane from now on.
    mutating func willWait(in lane: Int, isOwnInput: Bool) -> Bool {
        lanes.willWait(in: lane, isOwnInput: isOwnInput)
        return updateSources()
    }

    /// Those who sent these use no number any more.
    /// - Returns: what is to be let go of without the lock.
    mutating func releaseSenders(of items: [EnqueuedNotification]) -> [NotificationObject] {
        items.compactMap { item in item.senderNumber.flatMap { senders.release($0) } }
    }
}

extension DeliveryOutcome {
    init(_ fate: EnqueuedNotification.Fate?) {
        self =
            switch fate {
            case nil: .waiting
            case .posted: .delivered
            case .coalesced: .coalesced
            case .dequeued: .cancelled
            case .targetGone: .targetGone
            }
    }
}
