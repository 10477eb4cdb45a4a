internal import Foundation

/// What waits in the posting queues of one thread, in front of its run loop.
///
///     enqueue ─► buffer ─► run loop observer, or probe ─► post
///
/// Threads: what is marked so is called on the queues' thread only; the rest on any.
final class ThreadPostings: Sendable {
    /// A set of run loop modes. Its source tells whether the run loop runs in one of them, keeps a run loop in them from
    /// returning at once, and has `RunLoop.run(mode:before:)` return after a post.
    struct Lane: Sendable {
        var modes: Set<RunLoop.Mode>
        var source: RunLoopSource
    }

    struct State {
        var buffer = CoalescingBuffer<EnqueuedNotification>()
        var senders = SenderTable<NotificationObject>()
        var lanes: [Lane] = []
        /// One for each depth of handlers that run the run loop, for an observer is not called while it is.
        var observers: [RunLoopObserver] = []
        var runLoop: RunLoopReference?
        var identity: ThreadIdentity?
        var isFinished = false
        var defaultQueues: [ObjectIdentifier: DefaultQueue] = [:]
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
    nonisolated(unsafe) var depth = 0

    // MARK: The thread

    /// Gives the queues their thread.
    func attach(to runLoop: RunLoopReference, of identity: ThreadIdentity) {
        let (lanes, observers) = state.withLock { state in
            state.runLoop = runLoop
            state.identity = identity
            return (state.lanes, state.observers)
        }
        for lane in lanes { Self.add(lane, observers, to: runLoop) }
    }

    private static func add(_ lane: Lane, _ observers: [RunLoopObserver], to runLoop: RunLoopReference) {
        for mode in lane.modes {
            lane.source.add(to: runLoop, mode: mode)
            for observer in observers { observer.add(to: runLoop, mode: mode) }
        }
        // It may be asleep, or about to be.
        runLoop.wakeUp()
    }

    /// The lane for a set of modes, made if there is none yet.
    private func lane(for modes: Set<RunLoop.Mode>) -> Int {
        let (number, added, observers, runLoop) = state.withLock {
            state -> (Int, Lane?, [RunLoopObserver], RunLoopReference?) in
            if let known = state.lanes.firstIndex(where: { $0.modes == modes }) { return (known, nil, [], nil) }
            let lane = Lane(modes: modes, source: RunLoopSource(isLast: true, perform: {}))
            state.lanes.append(lane)
            if state.isFinished {
                lane.source.invalidate()
            } else if state.observers.isEmpty {
                state.observers.append(makeObserver(depth: 0))
            }
            return (state.lanes.count - 1, lane, state.observers, state.runLoop)
        }
        if let added, let runLoop { Self.add(added, observers, to: runLoop) }
        return number
    }

    private func makeObserver(depth: Int) -> RunLoopObserver {
        RunLoopObserver { [weak self] activity in self?.runLoop(activity, observer: depth) }
    }

    /// On the thread: has an observer for handlers that run the run loop while those of lesser depth are being called.
    func prepareObserver(depth: Int) {
        let (added, lanes, runLoop) = state.withLock { state -> (RunLoopObserver?, [Lane], RunLoopReference?) in
            guard state.observers.count == depth, !state.isFinished else { return (nil, [], nil) }
            let observer = makeObserver(depth: depth)
            state.observers.append(observer)
            return (observer, state.lanes, state.runLoop)
        }
        guard let added, let runLoop else { return }
        for lane in lanes {
            for mode in lane.modes { added.add(to: runLoop, mode: mode) }
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
        for lane in last.lanes { lane.source.invalidate() }
        for observer in last.observers { observer.invalidate() }
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
        DeliveryEvent.trace(.enqueue, name: name, post: item.number, target: mailbox.identity)
        let enqueued = withSender(NotificationObject(item.notification.object)) {
            state, sender -> (CoalescingBuffer<EnqueuedNotification>.Enqueued, [NotificationObject], RunLoopReference?)?
            in
            guard !state.isFinished else {
                if case .value(let number) = sender { _ = state.senders.release(number) }
                return nil
            }
            if case .value(let number) = sender { item.senderNumber = number }
            let enqueued = state.buffer.enqueue(
                item, .init(queue: item.ledger.queue, name: name, sender: sender), style: style, lane: lane, mask: mask,
                keepsEarliest: keepsEarliest && style != .now)
            return (enqueued, state.releaseSenders(of: enqueued.coalesced), state.runLoop)
        }
        guard let (enqueued, _, runLoop) = enqueued else {
            item.meet(.targetGone)
            return EnqueueReport(outcome: .targetGone, removed: 0)
        }
        for other in enqueued.coalesced { other.meet(.coalesced) }
        guard let place = enqueued.place else {
            return EnqueueReport(outcome: .coalesced, removed: enqueued.coalesced.count - 1)
        }
        let isCurrent = mailbox.isCurrent
        if style == .now, isCurrent, ThreadContext.current.mayNest { postNow(through: place) }
        if item.fate == nil, enqueued.mustWake {
            if !isCurrent { DeliveryEvent.trace(.signal, target: mailbox.identity) }
            runLoop?.wakeUp()
        }
        return EnqueueReport(outcome: EnqueueReport.Outcome(item.fate), removed: enqueued.coalesced.count)
    }

    /// Takes out what waits in this queue and is similar.
    /// - Returns: how many.
    func dequeue(
        matching notification: Notification, mask: NotificationQueue.NotificationCoalescing, queue: UInt64
    ) -> Int {
        // Where senders do not matter, they need not be compared.
        let object = mask.contains(.onSender) ? NotificationObject(notification.object) : .none
        let name = notification.name
        let (removed, _) = withSender(object, isNew: false) { state, sender in
            let removed = state.buffer.dequeue(matching: .init(queue: queue, name: name, sender: sender), mask)
            return (removed, state.releaseSenders(of: removed))
        }
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
        while true {
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
    }
}

extension ThreadPostings.State {
    /// Those who sent these use no number any more.
    /// - Returns: what is to be let go of without the lock.
    mutating func releaseSenders(of items: [EnqueuedNotification]) -> [NotificationObject] {
        items.compactMap { item in item.senderNumber.flatMap { senders.release($0) } }
    }
}

extension EnqueueReport.Outcome {
    init(_ fate: EnqueuedNotification.Fate?) {
        self =
            switch fate {
            case nil: .waiting
            case .posted: .posted
            case .coalesced: .coalesced
            case .dequeued: .dequeued
            case .targetGone: .targetGone
            }
    }
}
