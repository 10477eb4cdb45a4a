internal import Foundation
internal import ThreadedNotifications

/// Posts the notifications that wait in the posting queues of one thread, when the thread's run loop announces its
/// activities.
///
/// It belongs to the thread and is reached through ``ThreadPostings/poster`` only; the type is not Sendable.
final class QueuePoster {
    /// The number of batches of newly enqueued notifications that one pass posts, so that a handler that always
    /// enqueues another does not starve the run loop's other work.
    private static let batchesInAPass = 10

    let defaultQueues = DefaultQueues()
    private unowned let postings: ThreadPostings
    private(set) var idleDetector = IdleDetector()
    private var probe: RunLoopProbe?
    private var runs = NestedRuns<RunningMode>()
    private let runReturn: RunLoopReturn
    /// The number of run loop observers that have not returned, each called in a handler of the one before.
    private(set) var observerDepth = 0
    private var postDepth = 0
    /// The mode of the run that will check the queues before it waits. Nil after that check.
    private var modeToCheck: RunningMode?
    /// True if the run loop has to make another pass before it waits, to notice that its time is over or that it has no
    /// source.
    var needsAnotherPass = false

    init(for postings: ThreadPostings) {
        self.postings = postings
        runReturn = RunLoopReturn { [weak postings] in postings?.poster.withdrawReturn() }
    }

    /// True if a handler of a posted notification runs.
    var isPosting: Bool { postDepth > 0 }

    /// True if the run under way will check the queues before it waits, so that it need not be woken.
    var willCheckBeforeWaiting: Bool { modeToCheck.map { $0 == .current } ?? false }

    /// Called by the run loop's observers.
    /// - Parameter depth: the depth of the observer. Observers of other depths are called for the same activity.
    func runLoop(will activity: RunLoopObserver.Activity, observerDepth depth: Int) {
        guard depth == observerDepth else { return }
        switch activity {
        case .entry: beginRun()
        case .beforeTimers: beginPass()
        case .beforeWaiting: prepareToWait()
        case .exit: endRun()
        }
    }

    private func beginRun() {
        resetIdleDetection()
        runs.begin(in: .current, isSignalled: runReturn.isSignalled)
        runReturn.withdraw()
        modeToCheck = .current
    }

    private func beginPass() {
        // The probe was a source of the run loop, so the run loop has not noticed if it has no other.
        if probe?.disarm() == true { needsAnotherPass = true }
        idleDetector.beginPass()
        modeToCheck = .current
        if postDue() { runs.notePost() }
        signalReturn()
    }

    private func prepareToWait() {
        modeToCheck = nil
        if postDue() { runs.notePost() }
        if signalReturn() || needsAnotherPass {
            needsAnotherPass = false
            idleDetector.reset()
            postings.wakeUp()
        } else {
            detectIdle()
        }
    }

    private func endRun() {
        // Idle notifications stay for the next run: a run loop that ends does not wait.
        resetIdleDetection()
        postDue()
        postings.state.withLock { $0.noteEndOfRun() }
        // The run around this one may be about to wait, and may have used up what woke it.
        modeToCheck = nil
        let (wasObserved, mayBeNested) = runs.end(in: .current)
        if wasObserved { runReturn.withdraw() }
        if mayBeNested { needsAnotherPass = true }
    }

    /// Makes the run return if something was posted in it.
    @discardableResult
    private func signalReturn() -> Bool {
        guard runs.takeSignal() else { return false }
        runReturn.signal()
        return true
    }

    /// The run returns.
    func withdrawReturn() { runReturn.withdraw() }

    // MARK: Now and as soon as possible

    /// Posts the `now` notifications that the current mode serves, up to a sequence number.
    /// - Parameter modeQueue: the mode queue of the last of them. If the run loop does not run, its modes do not
    ///   matter.
    func postNow(through sequenceNumber: UInt64, modeQueue: Int) {
        var modeQueues = deliverableModeQueues()
        if !modeQueues.contains(modeQueue), RunningMode.current.isNone { modeQueues.append(modeQueue) }
        ServedThread.nest("what is enqueued to be posted now") {
            post([.now], modeQueues: modeQueues, before: sequenceNumber + 1)
        }
    }

    /// Posts all that the current mode serves and that is not `whenIdle`: the batch that waits, and then those that its
    /// handlers enqueue.
    /// - Returns: whether anything waited.
    @discardableResult
    private func postDue() -> Bool {
        guard isWaiting([.now, .asap], in: deliverableModeQueues()), ServedThread.mayNest else { return false }
        resetIdleDetection()
        callHandlers {
            for _ in 0..<Self.batchesInAPass {
                // Read before the mode queues, which another thread or a handler may add to: a notification in a new
                // mode queue then belongs to the next batch, and is not overtaken.
                let end = postings.state.withLock { $0.buffer.nextSequenceNumber }
                let modeQueues = deliverableModeQueues()
                guard isWaiting([.now, .asap], in: modeQueues) else { break }
                post([.now, .asap], modeQueues: modeQueues, before: end)
            }
        }
        return true
    }

    private func post(_ styles: [NotificationQueue.PostingStyle], modeQueues: [Int], before end: UInt64) {
        for style in styles {
            while let notification = take(style, modeQueues: modeQueues, before: end) { post(notification) }
        }
    }

    private func post(_ notification: EnqueuedNotification) {
        postDepth += 1
        notification.post()
        postDepth -= 1
    }

    private func take(
        _ style: NotificationQueue.PostingStyle, modeQueues: [Int], before end: UInt64
    ) -> EnqueuedNotification? {
        postings.state.withLock { $0.takeFirst(style, modeQueues: modeQueues, before: end) }?.notification
    }

    // MARK: When idle

    /// True if idle notifications wait that the current mode serves.
    var idleNotificationsWait: Bool { isWaiting([.whenIdle], in: deliverableModeQueues()) }

    /// The run loop announces that it will wait, and nothing else is posted before.
    private func detectIdle() {
        guard isWaiting([.whenIdle], in: deliverableModeQueues()), ServedThread.mayNest else {
            return resetIdleDetection()
        }
        switch idleDetector.runLoopWillWait() {
        case .makeAnotherPass:
            postings.wakeUp()
        case .armProbe:
            if probe == nil { probe = RunLoopProbe { [unowned self] in probeDidWake() } }
            if let probe { return probe.arm() }
            // The system has no descriptor left. The run loop was about to wait twice, which has to be enough.
            callHandlers(postIdle)
            runs.notePost()
            signalReturn()
            postings.wakeUp()
        }
    }

    private func probeDidWake() {
        probe?.disarm()
        if idleDetector.probeDidWake() { postIdle() }
    }

    /// Posts one idle notification. The next waits until the run loop has done the work that the first caused.
    private func postIdle() {
        resetIdleDetection()
        let modeQueues = deliverableModeQueues()
        // Another thread may have enqueued or handed over something since the run loop became idle.
        if isWaiting([.now, .asap], in: modeQueues) || postings.thread.hasWork {
            return
        }
        guard let notification = take(.whenIdle, modeQueues: modeQueues, before: .max) else { return }
        ServedThread.nest("what is posted while a handler runs the run loop") { post(notification) }
    }

    /// The run loop is not idle: something was done after it announced that it will wait.
    func resetIdleDetection() {
        probe?.disarm()
        idleDetector.reset()
    }

    // MARK: The run loop

    /// Calls handlers in an observer. If a handler runs the run loop, the observer of the next depth is called.
    private func callHandlers(_ body: () -> Void) {
        observerDepth += 1
        postings.addObserver(depth: observerDepth)
        ServedThread.nest("what is posted while a handler runs the run loop", body)
        observerDepth -= 1
        // Keeps the observer that the next call needs.
        if observerDepth == 0 { postings.state.withLock { $0.modeQueues.removeObservers(deeperThan: 1) } }
    }

    private func isWaiting(_ styles: [NotificationQueue.PostingStyle], in modeQueues: [Int]) -> Bool {
        postings.state.withLock { state in styles.contains { !state.buffer.isEmpty($0, modeQueues: modeQueues) } }
    }

    /// The indexes of the mode queues that the run loop serves in its current mode; empty if nothing waits at all.
    private func deliverableModeQueues() -> [Int] {
        postings.state.withLock { $0.buffer.isEmpty ? [] : $0.modeQueues.deliverable }
    }
}
