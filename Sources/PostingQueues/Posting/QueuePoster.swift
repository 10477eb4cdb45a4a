internal import CoreFoundation
internal import Foundation
internal import ThreadedNotifications

/// Posts the notifications that wait in the posting queues of one thread: the part that only the thread uses. The type
/// is not Sendable.
///
///     a source is called, or a run ends ──► now, asap
///     the run loop will wait ──► another pass ──► it will wait again ──► probe ──► one whenIdle
///
/// A run loop that announces that it will wait may still have work: a timer that is due, a ready descriptor, the main
/// queue, a block. CoreFoundation does not report these. So the run loop makes another pass, in which it serves the
/// main queue. If it announces to wait again after one pass, a probe is armed: a descriptor that became ready after all
/// others. If the probe is what wakes the run loop, nothing else was ready, and the run loop is idle.
final class QueuePoster {
    /// The number of batches of newly enqueued notifications that one pass posts, so that a handler that always
    /// enqueues another does not starve the run loop's other work.
    private static let batchesInAPass = 10

    private enum Idleness {
        case busy
        case confirming(passes: Int)
        case armed
    }

    /// The default queues by center, which they retain.
    var defaultQueues: [ObjectIdentifier: PostingQueue] = [:]
    private unowned let postings: ThreadPostings
    private var idleness = Idleness.busy
    private var probe: RunLoopProbe?
    /// The mode of the pass that has begun and will look before it waits. Nil after that.
    private var modeToCheck: RunningMode?

    init(for postings: ThreadPostings) {
        self.postings = postings
    }

    /// True if the run loop looks for what waits before it waits, so that it need not be woken.
    var willCheckBeforeWaiting: Bool { modeToCheck.map { $0 == .current } ?? false }

    /// Called by the run loop's observer.
    func runLoop(will activity: CFRunLoopActivity) {
        switch activity {
        case .entry:
            resetIdleDetection()
        case .beforeTimers:
            beginPass()
            modeToCheck = .current
        case .beforeWaiting:
            modeToCheck = nil
            // A block may have enqueued, or a nested run may have used up the wake-up.
            if isDue { postings.signalDue() } else { detectIdle() }
        case .exit:
            modeToCheck = nil
            resetIdleDetection()
            if isDue {
                postings.renewObserver()
                postDue()
            }
            // The run around this one may be about to wait.
            postings.signalDue()
        default: break
        }
    }

    // MARK: Now and as soon as possible

    private var isDue: Bool { ServedThread.mayNest && isWaiting([.now, .asap], in: served()) }

    /// Posts the `now` notifications that the current mode serves, up to a sequence number.
    /// - Parameter modeQueue: the mode queue of the last of them. If the run loop does not run, its modes do not
    ///   matter.
    func postNow(through sequenceNumber: UInt64, modeQueue: Int) {
        var modeQueues = served()
        if !modeQueues.contains(modeQueue), RunningMode.current.isNone { modeQueues.append(modeQueue) }
        ServedThread.nest("what is enqueued to be posted now") {
            post([.now], modeQueues: modeQueues, before: sequenceNumber + 1)
        }
    }

    /// Posts all that the current mode serves and that is not `whenIdle`: the batch that waits, and then those that its
    /// handlers enqueue.
    func postDue() {
        guard isDue else { return }
        resetIdleDetection()
        ServedThread.nest("what is posted while a handler runs the run loop") {
            for _ in 0..<Self.batchesInAPass {
                // Read before the mode queues, which another thread or a handler may add to: a notification in a new
                // mode queue then belongs to the next batch, and is not overtaken.
                let end = postings.state.withLock { $0.buffer.nextSequenceNumber }
                let modeQueues = served()
                guard isWaiting([.now, .asap], in: modeQueues) else { return }
                post([.now, .asap], modeQueues: modeQueues, before: end)
            }
        }
        postings.postponeDue()
    }

    private func post(_ styles: [NotificationQueue.PostingStyle], modeQueues: [Int], before end: UInt64) {
        for style in styles {
            while let notification = postings.takeFirst(style, modeQueues: modeQueues, before: end) {
                notification.post()
            }
        }
    }

    // MARK: When idle

    /// True if idle notifications wait that the current mode serves.
    var idleNotificationsWait: Bool { isWaiting([.whenIdle], in: served()) }

    private func beginPass() {
        switch idleness {
        case .busy: break
        case .confirming(let passes): idleness = .confirming(passes: passes + 1)
        case .armed:
            // Something other than the probe woke the run loop, which has to notice if it has no other source.
            resetIdleDetection()
            postings.wakeUp()
        }
    }

    /// The run loop announces that it will wait, and nothing else is posted before.
    private func detectIdle() {
        guard idleNotificationsWait, ServedThread.mayNest else { return resetIdleDetection() }
        if case .confirming(passes: 1) = idleness {
            idleness = .armed
            if probe == nil { probe = RunLoopProbe { [unowned postings] in postings.poster.probeDidWake() } }
            probe?.arm()
        } else {
            // After more than one pass it has handled a source or the main queue without announcing to wait.
            idleness = .confirming(passes: 0)
            postings.wakeUp()
        }
    }

    /// Posts one idle notification. The next waits until the run loop has done the work that the first caused.
    func probeDidWake() {
        guard case .armed = idleness else { return }
        resetIdleDetection()
        // Another thread may have enqueued something since.
        guard !isDue, !postings.thread.hasWork,
            let notification = postings.takeFirst(.whenIdle, modeQueues: served())
        else { return }
        ServedThread.nest("what is posted while a handler runs the run loop") { notification.post() }
    }

    /// The run loop is not idle: something was done after it announced that it will wait.
    func resetIdleDetection() {
        idleness = .busy
        probe?.disarm()
    }

    // MARK: Waiting notifications

    private func isWaiting(_ styles: [NotificationQueue.PostingStyle], in modeQueues: [Int]) -> Bool {
        postings.state.withLock { state in styles.contains { !state.buffer.isEmpty($0, modeQueues: modeQueues) } }
    }

    /// The indexes of the mode queues that the run loop serves in its current mode; empty if nothing waits at all.
    private func served() -> [Int] {
        postings.state.withLock { state in
            if state.buffer.isEmpty { return [] }
            return state.modeQueues.indices.filter { state.modeQueues[$0].marker.isInCurrentMode }
        }
    }
}
