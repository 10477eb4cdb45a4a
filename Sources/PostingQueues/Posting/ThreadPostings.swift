internal import Foundation
internal import ThreadedNotifications

/// The notifications that wait in the posting queues of one thread: the part that all threads use, behind a lock. The
/// part that belongs to the thread is its ``QueuePoster``.
///
///     enqueue ─► CoalescingBuffer ─► run loop ─► QueuePoster ─► post
///
/// Threads: every method may be called on any thread, unless its comment says otherwise.
final class ThreadPostings: ThreadService {
    let thread: ServedThread
    let state = Locked(State(), isTakenToFork: true)
    // Safety: it is used on the thread only, which `poster` checks.
    private nonisolated(unsafe) var posterOfThread: QueuePoster?

    init(of thread: ServedThread) {
        self.thread = thread
        thread.whenAttached { [weak self] in self?.attach(to: $0) }
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

    /// Sets the run loop of the queues' thread.
    private func attach(to runLoop: RunLoopReference) {
        state.withLock { if !$0.isFinished { $0.modeQueues.attach(to: runLoop) } }
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
        last.modeQueues.invalidate()
        for item in waiting { item.notification.resolve(.targetGone, reason: reason) }
        return waiting.count
    }

    /// The index of the mode queue for a set of modes, which is made if there is none yet. Called with the lock held.
    private func modeQueue(for modes: Set<RunLoop.Mode>, in modeQueues: inout PostingModeQueues) -> Int {
        if let known = modeQueues.index(of: modes) { return known }
        if modeQueues.observers.isEmpty { modeQueues.addObserver(makeObserver(depth: 0)) }
        return modeQueues.append(modes)
    }

    /// Adds an observer for handlers that run the run loop while the observers of lesser depth have not returned.
    /// Called on the thread.
    func addObserver(depth: Int) {
        state.withLock { state in
            if state.modeQueues.observers.count == depth { state.modeQueues.addObserver(makeObserver(depth: depth)) }
        }
    }

    private func makeObserver(depth: Int) -> RunLoopObserver {
        RunLoopObserver { [weak self] activity in
            // A thread of a copy may have the run loop of a thread of the parent.
            guard let self, !ForkedCopy.isCopy || thread.isCurrent else { return }
            poster.runLoop(will: activity, observerDepth: depth)
        }
    }

    func wakeUp() {
        state.withLock { $0.modeQueues.runLoop }?.wakeUp()
    }

    // MARK: Enqueuing

    func enqueue(
        _ notification: EnqueuedNotification, style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, keepsEarliest: Bool, modes: Set<RunLoop.Mode>
    ) -> EnqueueReport {
        let sender = NotificationObject(notification.notification.object)
        let poster = thread.isCurrent ? poster : nil
        let isOwnInput = poster?.isPosting == false
        let isPostedHere = style == .now && poster != nil && ServedThread.mayNest
        DeliveryEvent.trace(
            .enqueue, name: notification.notification.name, post: notification.number, target: thread.identity,
            postingStyle: style, location: notification.location, sender: sender)
        let isOfParent = ForkedCopy.isCopy && thread.isOfParent
        let enqueued = withSender(sender) { state, sender -> Enqueued? in
            if isOfParent { state.isFinished = true }
            guard
                var enqueued = state.enqueue(
                    notification, sender, style: style, modeQueue: self.modeQueue(for: modes, in: &state.modeQueues),
                    mask: mask, keepsEarliest: keepsEarliest && style != .now)
            else { return nil }
            // A notification that is posted here needs no source. If it has to wait after all, it gets one below.
            if !isPostedHere {
                enqueued.removedSource = state.noteWaiting(in: enqueued.modeQueue, isOwnInput: isOwnInput)
            }
            return enqueued
        }
        guard let enqueued else {
            notification.resolve(.targetGone, reason: thread.noteLoss())
            return EnqueueReport(outcome: .targetGone, removed: 0)
        }
        for item in enqueued.coalesced { item.notification.resolve(.coalesced, keeping: notification.number) }
        if isPostedHere, let sequenceNumber = enqueued.sequenceNumber {
            poster?.postNow(through: sequenceNumber, modeQueue: enqueued.modeQueue)
            if notification.outcome == nil {
                _ = state.withLock { $0.noteWaiting(in: enqueued.modeQueue, isOwnInput: isOwnInput) }
            }
        }
        // A notification that is posted here may have replaced the last one that waited.
        let removedSource = enqueued.removedSource || (isPostedHere && !enqueued.coalesced.isEmpty)
        if removedSource || (enqueued.mustWake && notification.outcome == nil) {
            if poster == nil { DeliveryEvent.trace(.signal, target: thread.identity) }
            wake(enqueued.runLoop, poster, removedSource: removedSource)
        }
        if enqueued.sequenceNumber == nil {
            return EnqueueReport(outcome: .coalesced, removed: enqueued.coalesced.count - 1)
        }
        return EnqueueReport(
            outcome: DeliveryOutcome(notification.outcome), removed: enqueued.coalesced.count)
    }

    /// Removes the similar notifications of a queue.
    /// - Returns: how many.
    func dequeue(
        matching notification: Notification, mask: NotificationQueue.NotificationCoalescing, queue: UInt64
    ) -> Int {
        // Senders are not compared if the mask does not ask for it.
        let object = mask.contains(.onSender) ? NotificationObject(notification.object) : .none
        let name = notification.name
        let dequeued = withSender(object, isNew: false) { state, sender in
            state.dequeue(matching: .init(queue: queue, name: name, sender: sender), mask)
        }
        if dequeued.removedSource { wake(dequeued.runLoop, thread.isCurrent ? poster : nil, removedSource: true) }
        for item in dequeued.items { item.notification.resolve(.dequeued) }
        return dequeued.items.count
    }

    /// Lets the run loop post what waits, and notice that it has no source left to wait for.
    /// - Parameter poster: the thread's, if it is the calling thread.
    private func wake(_ runLoop: RunLoopReference?, _ poster: QueuePoster?, removedSource: Bool) {
        // Not woken if it will check anyway: waking it in each pass would starve the main queue, which CoreFoundation
        // serves last.
        if let poster, poster.willCheckBeforeWaiting {
            if removedSource { poster.needsAnotherPass = true }
        } else {
            runLoop?.wakeUp()
        }
    }

    /// Calls `body` with the lock held, and with the sender as the buffer compares it.
    /// - Parameter isNew: whether a sender that is a value gets a number. If not, and none is equal to it, it is
    ///   similar to nothing.
    private func withSender<Result: Sendable>(
        _ object: NotificationObject, isNew: Bool = true,
        _ body: @Sendable (inout State, CoalescingBuffer<WaitingNotification>.Sender) -> Result
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
                guard
                    let number = state.senders.use(object, hash: hash, same: same, of: candidates.map(\.number))
                else { return nil }
                return body(&state, .value(number))
            }
            if let result { return result }
        }
        // Each comparison has enqueued another value, so the comparing does not end. The value counts as incomparable.
        return state.withLock { body(&$0, .incomparable) }
    }
}

extension ThreadPostings {
    /// Everything that the lock guards. Its methods decide; ``ThreadPostings`` acts on their results without the lock.
    struct State {
        var buffer = CoalescingBuffer<WaitingNotification>()
        var senders = SenderTable<NotificationObject>()
        var modeQueues = PostingModeQueues()
        var isFinished = false

        /// Adds a notification and removes those that are similar.
        /// - Returns: nil if the thread has ended.
        mutating func enqueue(
            _ notification: EnqueuedNotification, _ sender: CoalescingBuffer<WaitingNotification>.Sender,
            style: NotificationQueue.PostingStyle, modeQueue: Int, mask: NotificationQueue.NotificationCoalescing,
            keepsEarliest: Bool
        ) -> Enqueued? {
            let senderNumber: UInt64? = if case .value(let number) = sender { number } else { nil }
            guard !isFinished else {
                if let senderNumber { _ = senders.release(senderNumber) }
                return nil
            }
            let key = CoalescingBuffer<WaitingNotification>.Key(
                queue: notification.counters.queue, name: notification.notification.name, sender: sender)
            let buffered = buffer.enqueue(
                WaitingNotification(notification: notification, senderNumber: senderNumber), key, style: style,
                modeQueue: modeQueue, mask: mask, keepsEarliest: keepsEarliest)
            return Enqueued(
                sequenceNumber: buffered.sequenceNumber, modeQueue: buffered.modeQueue, coalesced: buffered.coalesced,
                mustWake: buffered.mustWake, runLoop: modeQueues.runLoop,
                unusedSenders: releaseSenders(of: buffered.coalesced))
        }

        mutating func dequeue(
            matching key: CoalescingBuffer<WaitingNotification>.Key, _ mask: NotificationQueue.NotificationCoalescing
        ) -> Dequeued {
            let items = buffer.dequeue(matching: key, mask)
            return Dequeued(
                items: items, removedSource: updateSources(), runLoop: modeQueues.runLoop,
                unusedSenders: releaseSenders(of: items))
        }

        /// Removes the first notification of a style in any of these mode queues, if its sequence number is below
        /// `end`.
        /// - Returns: the notification, and a sender that is released after the lock, because that runs foreign code.
        mutating func takeFirst(
            _ style: NotificationQueue.PostingStyle, modeQueues indexes: [Int], before end: UInt64
        ) -> (notification: EnqueuedNotification, unusedSender: NotificationObject?)? {
            guard let item = buffer.takeFirst(style, modeQueues: indexes, before: end) else { return nil }
            _ = updateSources()
            return (item.notification, item.senderNumber.flatMap { senders.release($0) })
        }

        /// Notes that a notification of a mode queue begins to wait.
        /// - Returns: whether a source was removed.
        mutating func noteWaiting(in modeQueue: Int, isOwnInput: Bool) -> Bool {
            // Only idle notifications can keep a run loop from returning, and asking the run loop costs a lock.
            if !buffer.isEmpty(.whenIdle, modeQueue: modeQueue) {
                modeQueues.noteWaiting(in: modeQueue, isOwnInput: isOwnInput)
            }
            return updateSources()
        }

        /// Notes that a run in the run loop's current mode ends.
        mutating func noteEndOfRun() {
            guard !buffer.isEmpty else { return }
            modeQueues.noteEndOfRun()
            _ = updateSources()
        }

        /// Adds and removes sources after notifications were added or removed.
        /// - Returns: whether a source was removed.
        private mutating func updateSources() -> Bool {
            var wasRemoved = false
            for index in 0..<modeQueues.count {
                let isIdleWaiting = !buffer.isEmpty(.whenIdle, modeQueue: index)
                let isDueWaiting = !buffer.isEmpty(.now, modeQueue: index) || !buffer.isEmpty(.asap, modeQueue: index)
                if modeQueues.updateSource(of: index, idle: isIdleWaiting, due: isDueWaiting) { wasRemoved = true }
            }
            return wasRemoved
        }

        private mutating func releaseSenders(of items: [WaitingNotification]) -> [NotificationObject] {
            items.compactMap { item in item.senderNumber.flatMap { senders.release($0) } }
        }
    }

    /// A notification in the buffer.
    struct WaitingNotification: Sendable {
        var notification: EnqueuedNotification
        /// The number of its sender in the table of senders, if that is a value.
        var senderNumber: UInt64?
    }

    /// The result of enqueuing a notification.
    struct Enqueued: Sendable {
        /// Nil: an earlier similar notification was kept instead.
        var sequenceNumber: UInt64?
        /// The index of the mode queue in which the kept notification waits.
        var modeQueue: Int
        var coalesced: [WaitingNotification]
        /// True if the run loop may be asleep without knowing that something waits.
        var mustWake: Bool
        var removedSource = false
        var runLoop: RunLoopReference?
        /// Released after the lock, because that runs foreign code.
        var unusedSenders: [NotificationObject]
    }

    /// The result of removing notifications.
    struct Dequeued: Sendable {
        var items: [WaitingNotification]
        var removedSource: Bool
        var runLoop: RunLoopReference?
        /// Released after the lock, because that runs foreign code.
        var unusedSenders: [NotificationObject]
    }
}

extension DeliveryOutcome {
    init(_ outcome: EnqueuedNotification.Outcome?) {
        self =
            switch outcome {
            case nil: .waiting
            case .posted: .delivered
            case .coalesced: .coalesced
            case .dequeued: .cancelled
            case .targetGone: .targetGone
            }
    }
}
