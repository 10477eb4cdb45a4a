internal import CoreFoundation
internal import Foundation
internal import ThreadedNotifications

/// The notifications that wait in the posting queues of one thread: the part that all threads use, behind a lock. The
/// part that belongs to the thread is its ``QueuePoster``.
///
///     enqueue ─► CoalescingBuffer ─► run loop ─► QueuePoster ─► post
///
/// While notifications wait, the run loop has a source, and so does not return before it has posted them. The source is
/// signalled for those that are not `whenIdle`, so that a run returns after they were posted, as after other input.
/// Threads: every method may be called on any thread, unless its comment says otherwise.
final class ThreadPostings: ThreadService {
    let thread: ServedThread
    let state = Locked(State())
    // Safety: it is used on the thread only, which `poster` and the callers of the other methods ensure.
    private nonisolated(unsafe) var posterOfThread: QueuePoster?

    init(of thread: ServedThread) {
        self.thread = thread
        thread.whenAttached { self.attach(to: $0) }
    }

    // MARK: The thread

    /// The poster of the calling thread, which has to be the thread of these queues.
    var poster: QueuePoster {
        precondition(thread.isCurrent, "ThreadPostings: the poster of a thread was used on another thread.")
        if let posterOfThread { return posterOfThread }
        let new = QueuePoster(for: self)
        posterOfThread = new
        return new
    }

    var hasWork: Bool { posterOfThread?.idleNotificationsWait ?? false }

    func drainEnded() {
        posterOfThread?.resetIdleDetection()
    }

    private func attach(to runLoop: RunLoopReference) {
        state.withLock { if !$0.isFinished { $0.attach(to: runLoop) } }
        // Notifications that were enqueued before now have not woken it.
        runLoop.wakeUp()
    }

    /// Resolves all that waits as having lost its target.
    func threadEnds(_ reason: DeliveryEvent.Reason?) -> Int {
        posterOfThread = nil
        let (waiting, last) = state.withLock { state in
            let last = state
            state = State()
            state.isFinished = true
            var buffer = last.buffer
            return (buffer.removeAll(), last)
        }
        last.invalidate()
        for item in waiting { item.notification.resolve(.targetGone, reason: reason) }
        return waiting.count
    }

    func wakeUp() {
        state.withLock { $0.runLoop }?.wakeUp()
    }

    // MARK: On the thread

    /// Lets the run loop, which may be about to wait, call the sources for which notifications wait.
    func signalDue() {
        let sources = state.withLock { $0.modeQueues.filter(\.isDue).compactMap(\.source) }
        for source in sources { source.signal() }
        if !sources.isEmpty { wakeUp() }
    }

    /// Lets the run loop post what still waits, after it has called other sources.
    func postponeDue() {
        state.withLock { $0.postponeDue(self.makeSource) }
    }

    /// Exchanges the observer, because CoreFoundation does not call one again before it has returned.
    func renewObserver() {
        state.withLock { $0.observe(makeObserver()) }
    }

    // A thread that has services is released only after it has told them of its end, which invalidates these.

    private func makeObserver() -> RunLoopObserver {
        RunLoopObserver { [unowned self] in poster.runLoop(will: $0) }
    }

    private func makeSource(isLast: Bool) -> RunLoopSource {
        RunLoopSource(order: isLast ? .max : .min) { [unowned self] in poster.postDue() }
    }

    /// Removes the first notification of a style in any of these mode queues, if its sequence number is below `end`.
    func takeFirst(
        _ style: NotificationQueue.PostingStyle, modeQueues: [Int], before end: UInt64 = .max
    ) -> EnqueuedNotification? {
        let taken = state.withLock { state -> (item: WaitingNotification, unusedSender: NotificationObject?)? in
            guard let item = state.buffer.takeFirst(style, modeQueues: modeQueues, before: end) else { return nil }
            _ = state.updateSources(self.makeSource)
            return (item, item.senderNumber.flatMap { state.senders.release($0) })
        }
        return withExtendedLifetime(taken) { taken?.item.notification }
    }

    // MARK: Enqueuing

    func enqueue(
        _ notification: EnqueuedNotification, style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, keepsEarliest: Bool, modes: Set<RunLoop.Mode>
    ) -> EnqueueReport {
        let object = NotificationObject(notification.notification.object)
        let poster = thread.isCurrent ? poster : nil
        let isPostedHere = style == .now && poster != nil && ServedThread.mayNest
        if notification.number != 0 {
            DeliveryEvent.trace(
                .enqueue, name: notification.notification.name, post: notification.number, target: thread.identity,
                postingStyle: style, location: notification.location, sender: object)
        }
        let isOfParent = thread.isOfParent
        let enqueued = withSender(object) { state, sender -> Enqueued? in
            let senderNumber: UInt64? =
                if case .value(let number) = sender { number } else { nil }
            if isOfParent || state.isFinished {
                _ = senderNumber.flatMap { state.senders.release($0) }
                return nil
            }
            if state.modeQueues.isEmpty { state.observe(self.makeObserver()) }
            let modeQueue = state.modeQueue(for: modes)
            let key = Buffer.Key(
                queue: notification.counters.queue, name: notification.notification.name, sender: sender)
            let buffered = state.buffer.enqueue(
                WaitingNotification(notification: notification, senderNumber: senderNumber), key, style: style,
                modeQueue: modeQueue, mask: mask, keepsEarliest: keepsEarliest && style != .now)
            // A notification that is posted here needs no source. If it has to wait after all, it gets one below.
            let mustUpdate = !buffered.coalesced.isEmpty || buffered.mustWake
            let removedSource = mustUpdate && !isPostedHere && state.updateSources(self.makeSource)
            return Enqueued(
                buffered: buffered, modeQueue: modeQueue, removedSource: removedSource,
                unusedSenders: state.releaseSenders(of: buffered.coalesced))
        }
        guard let enqueued else {
            notification.resolve(.targetGone, reason: thread.noteLoss())
            return EnqueueReport(outcome: .targetGone, removed: 0)
        }
        withExtendedLifetime(enqueued.unusedSenders) {}
        let coalesced = enqueued.buffered.coalesced
        for item in coalesced { item.notification.resolve(.coalesced, keeping: notification.number) }
        guard let number = enqueued.buffered.sequenceNumber else {
            return EnqueueReport(outcome: .coalesced, removed: coalesced.count - 1)
        }
        var removedSource = enqueued.removedSource
        if isPostedHere {
            poster?.postNow(through: number, modeQueue: enqueued.modeQueue)
            if notification.outcome == .waiting || !coalesced.isEmpty {
                removedSource = state.withLock { $0.updateSources(self.makeSource) }
            }
        }
        // Not woken if it will check anyway: waking it in each pass would starve the main queue, which CoreFoundation
        // serves last.
        let mustWake =
            enqueued.buffered.mustWake && notification.outcome == .waiting && poster?.willCheckBeforeWaiting != true
        if mustWake || removedSource {
            if poster == nil { DeliveryEvent.trace(.signal, target: thread.identity) }
            wakeUp()
        }
        return EnqueueReport(outcome: notification.outcome, removed: coalesced.count)
    }

    /// Removes the similar notifications of a queue.
    /// - Returns: how many.
    func dequeue(
        matching notification: Notification, mask: NotificationQueue.NotificationCoalescing, queue: UInt64
    ) -> Int {
        // Senders are not compared if the mask does not ask for it.
        let object = mask.contains(.onSender) ? NotificationObject(notification.object) : .none
        let name = notification.name
        let (items, removedSource, unusedSenders) = withSender(object, isNew: false) { state, sender in
            let items = state.buffer.dequeue(matching: .init(queue: queue, name: name, sender: sender), mask)
            return (items, state.updateSources(self.makeSource), state.releaseSenders(of: items))
        }
        if removedSource { wakeUp() }
        for item in items { item.notification.resolve(.cancelled) }
        withExtendedLifetime(unusedSenders) {}
        return items.count
    }

    /// Calls `body` with the lock held, and with the sender as the buffer compares it.
    /// - Parameter isNew: whether a sender that is a value gets a number. If not, and none is equal to it, it is
    ///   similar to nothing.
    private func withSender<Result: Sendable>(
        _ object: NotificationObject, isNew: Bool = true, _ body: @Sendable (inout State, Buffer.Sender) -> Result
    ) -> Result {
        switch object {
        case .none: return state.withLock { body(&$0, .none) }
        case .object(let object): return state.withLock { body(&$0, .object(ObjectIdentifier(object))) }
        case .incomparable: return state.withLock { body(&$0, .incomparable) }
        case .value: break
        }
        let hash = object.hash ?? 0
        for _ in 0..<100 {
            // Comparing values is foreign code, so it is done without the lock, and repeated if other values were
            // added.
            let candidates = state.withLock { $0.senders.candidates(hash: hash) }
            let same = candidates.first { $0.value.isSame(as: object) }?.number
            let result = state.withLock { state -> Result? in
                if !isNew { return body(&state, same.map { .value($0) } ?? .incomparable) }
                let number = state.senders.use(object, hash: hash, same: same, of: candidates.map(\.number))
                return number.map { body(&state, .value($0)) }
            }
            if let result { return result }
        }
        // Each comparison has enqueued another value, so the comparing does not end. The value counts as incomparable.
        return state.withLock { body(&$0, .incomparable) }
    }
}

extension ThreadPostings {
    typealias Buffer = CoalescingBuffer<WaitingNotification>

    /// A notification in the buffer.
    struct WaitingNotification: Sendable {
        var notification: EnqueuedNotification
        /// The number of its sender in the table of senders, if that is a value.
        var senderNumber: UInt64?
    }

    /// A set of run loop modes that the queues were used with.
    struct ModeQueue {
        let modes: Set<RunLoop.Mode>
        /// Tells whether the run loop runs in one of the modes. Only CoreFoundation knows which modes are common.
        let marker = RunLoopObserver(of: []) { _ in }
        /// Nil while nothing waits.
        var source: RunLoopSource?
        /// True while notifications wait that are not `whenIdle`: the source is signalled, or is being called.
        var isDue = false
    }

    private struct Enqueued: Sendable {
        var buffered: Buffer.Enqueued
        var modeQueue: Int
        var removedSource: Bool
        /// Released after the lock, because that runs foreign code.
        var unusedSenders: [NotificationObject]
    }

    /// Everything that the lock guards. CoreFoundation is called with the lock held, and calls nothing back.
    struct State {
        var buffer = Buffer()
        var senders = SenderTable<NotificationObject>()
        private(set) var modeQueues: [ModeQueue] = []
        private(set) var runLoop: RunLoopReference?
        var isFinished = false
        private var observer: RunLoopObserver?

        mutating func attach(to runLoop: RunLoopReference) {
            self.runLoop = runLoop
            for modeQueue in modeQueues { attach(modeQueue) }
        }

        /// Adds to the run loop what a mode queue needs, unless it is there.
        private func attach(_ modeQueue: ModeQueue) {
            guard let runLoop else { return }
            for mode in modeQueue.modes {
                modeQueue.marker.add(to: runLoop, mode: mode)
                observer?.add(to: runLoop, mode: mode)
                modeQueue.source?.add(to: runLoop, mode: mode)
            }
        }

        mutating func observe(_ new: RunLoopObserver) {
            observer?.invalidate()
            observer = new
            for modeQueue in modeQueues { attach(modeQueue) }
        }

        func invalidate() {
            observer?.invalidate()
            for modeQueue in modeQueues {
                modeQueue.marker.invalidate()
                modeQueue.source?.invalidate()
            }
        }

        /// The index of the mode queue for a set of modes, which is made if there is none yet.
        mutating func modeQueue(for modes: Set<RunLoop.Mode>) -> Int {
            if let known = modeQueues.firstIndex(where: { $0.modes == modes }) { return known }
            modeQueues.append(ModeQueue(modes: modes))
            attach(modeQueues[modeQueues.count - 1])
            return modeQueues.count - 1
        }

        /// Adds, signals and removes the sources after notifications were added or removed.
        /// - Returns: whether one was removed. A run loop that waits notices that only when it is woken.
        mutating func updateSources(_ make: (_ isLast: Bool) -> RunLoopSource) -> Bool {
            var wasRemoved = false
            for index in modeQueues.indices {
                let isDue = !buffer.isEmpty(.now, modeQueue: index) || !buffer.isEmpty(.asap, modeQueue: index)
                let isUsed = isDue || !buffer.isEmpty(.whenIdle, modeQueue: index)
                let wasDue = modeQueues[index].isDue
                modeQueues[index].isDue = isDue
                // A signal cannot be taken back, so the source is made anew.
                if let source = modeQueues[index].source, !isUsed || wasDue && !isDue {
                    source.invalidate()
                    modeQueues[index].source = nil
                    wasRemoved = wasRemoved || !isUsed
                }
                if isUsed, modeQueues[index].source == nil {
                    modeQueues[index].source = make(false)
                    attach(modeQueues[index])
                }
                if isDue, !wasDue { modeQueues[index].source?.signal() }
            }
            return wasRemoved
        }

        mutating func postponeDue(_ make: (_ isLast: Bool) -> RunLoopSource) {
            for index in modeQueues.indices where modeQueues[index].isDue {
                modeQueues[index].source?.invalidate()
                modeQueues[index].source = make(true)
                attach(modeQueues[index])
                modeQueues[index].source?.signal()
            }
        }

        mutating func releaseSenders(of items: [WaitingNotification]) -> [NotificationObject] {
            items.compactMap { item in item.senderNumber.flatMap { senders.release($0) } }
        }
    }
}
