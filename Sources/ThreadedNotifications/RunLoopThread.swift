internal import CLinux
internal import Dispatch
internal import Foundation

/// A thread that runs its run loop until it is stopped. It is also an executor for actors and tasks.
///
///     let worker = RunLoopThread(name: "worker")
///     try worker.start()
///     try worker.perform { … }
///     …
///     worker.stop()
///     try worker.waitUntilFinished(timeout: .seconds(5))
///
///     idle ──start──► running ──stop──► stopping ──drained──► ended
///       └──────stop──────────────────────────────────────────► ended
///
/// The thread runs its run loop in the default mode, and ends after `stop()`. A running thread retains itself, so
/// releasing the last reference does not end it.
/// Threads: every method may be called on any thread.
/// Order: notifications, blocks and the jobs of actors run in the order in which they were enqueued. Ports are handled
/// in the order in which they were signalled, and in no fixed order with notifications, blocks and jobs.
/// Actors: the thread is one serial executor. The jobs of all its actors and tasks do not interleave, nor does a job
/// begin while a handler with `isolatedTo:` runs. A job that becomes ready while one of them runs the run loop or waits
/// is run after that one has returned. So a job that runs the run loop until another actor of the thread has changed
/// something waits for ever: use `await`, which ends the job. Notifications and blocks are delivered by such a run of
/// the run loop, in the middle of the job, also to handlers with `isolatedTo:`. A `Task.immediate` that code on the
/// thread makes is no job until it suspends: it runs at once.
/// Run loop: the thread sleeps in the last observer of `beforeWaiting`, which also drains the mailbox. So a handler may
/// run after the other observers of `beforeWaiting` and before those of `afterWaiting`. A whole pass follows.
/// Cost: a thread, and the descriptors of its run loop and an eventfd until it ends. The thread asks the scheduler for
/// short time slices (0.1 ms, since Linux 6.12), so that it runs as soon as it is woken, also if the posting thread
/// continues on the same processor. Its share of processor time and its priority do not change. Threads that it starts
/// have the usual slices. To ensure this the thread has the flag `SCHED_RESET_ON_FORK`, which an unprivileged process
/// cannot clear: there, code on this thread can change its policy only together with that flag.
public final class RunLoopThread: DeliveryTarget {
    private enum Phase {
        case idle
        case started
        /// It ends on the thread that stopped it.
        case stoppedBeforeStart(by: ThreadIdentity)
    }

    private struct State {
        var phase = Phase.idle
        /// Nil before the thread is created, and after it was joined.
        var thread: SystemThread?
        /// Runs the jobs that are enqueued after the thread has ended.
        var lateJobs: DispatchQueue?
    }

    /// The thread's name, as in `ThreadIdentity`. The kernel keeps the first 15 bytes.
    public let name: String

    let mailbox: Mailbox
    private let state = Locked(State())
    /// A thread can be joined once, so callers of `waitUntilFinished` wait for each other. `start()` makes it
    /// available; for a thread that never starts, `stop()` does so after it has reported the end.
    private let joinPermit = MonotonicSemaphore()

    /// Makes a thread that is not started. Notifications for it wait until it is.
    /// - Parameters:
    ///   - name: the thread's name.
    public init(name: String) {
        self.name = name
        mailbox = Mailbox(threadName: name)
    }

    deinit {
        // A copy of the process has nothing of the thread.
        if mailbox.isOfParent { return }
        // No caller can join the thread any more, so the system releases it when it ends.
        state.withLock { $0.thread }?.detach()
        // Its end has been reported, unless it was never started.
        if let lost = mailbox.end() { mailbox.reportEnd(lost) }
    }

    public var targetThread: TargetThread { TargetThread(mailbox: mailbox) }

    /// The thread's identity; nil before it was started.
    public var identity: ThreadIdentity? { mailbox.identity }

    /// Starts the thread, and returns when it accepts notifications and blocks.
    ///
    /// - Throws: `DeliveryError.threadAlreadyStarted`; `.threadStopped` if it was stopped before it started; or
    ///   `.threadNotCreated`, after which `start()` may be called again.
    public func start() throws(DeliveryError) {
        let isAttached = MonotonicSemaphore()
        try state.withLock { state throws(DeliveryError) in
            switch state.phase {
            case .idle: break
            case .started: throw .threadAlreadyStarted(thread: name)
            case .stoppedBeforeStart: throw .threadStopped(thread: name)
            }
            // Retained by the thread's context, and not on its stack, because a handler may call `Thread.exit()`.
            let keeper = Locked<RunLoopThread?>(self)
            let body: @Sendable () -> Void = { [name, mailbox] in
                ThreadContext.current.keepsAlive = keeper.withLock { kept in
                    defer { kept = nil }
                    return kept
                }
                Self.main(name, mailbox, isAttached)
            }
            switch SystemThread.start(body) {
            case .success(let thread): state.thread = thread
            case .failure(let error): throw .threadNotCreated(thread: name, code: error.code)
            }
            state.phase = .started
            joinPermit.signal()
        }
        isAttached.wait()
    }

    /// Asks the thread to end, and returns at once.
    ///
    /// The running handler returns, the notifications and blocks that wait are delivered, each signalled port is
    /// handled once more, and the thread ends. Notifications that are posted later are `targetGone`, and later blocks
    /// are refused. A second call has no effect. The method may be called on the thread itself. A thread that was
    /// stopped before it started never runs.
    public func stop() {
        let neverRuns = state.withLock { state in
            if case .started = state.phase { return false }
            if case .idle = state.phase { state.phase = .stoppedBeforeStart(by: .current) }
            return true
        }
        if !neverRuns {
            mailbox.close()
        } else if let lost = mailbox.end() {
            mailbox.reportEnd(lost)
            joinPermit.signal()
        }
    }

    /// Waits until the thread has ended, and its thread-specific storage and run loop have been destroyed.
    ///
    /// It does not stop the thread. Several threads may wait. A thread that was stopped before it started ends in that
    /// call of `stop()`.
    /// - Parameters:
    ///   - timeout: the longest wait; negative counts as zero.
    ///   - file: the caller's file, for errors.
    ///   - line: the caller's line, for errors.
    /// - Throws: `DeliveryError.threadStillRunning` after the timeout, `.threadNotStarted`, `.waitForItself`, or
    ///   `.waitWouldDeadlock` if the thread waits for the calling one.
    @available(*, noasync, message: "it blocks the thread; use await")
    public func waitUntilFinished(
        timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) {
        if mailbox.isOfParent { return }
        let ending = try endingThread()
        // A wait for a thread that runs, or ran until now, is always traced.
        if ending.thread == nil, join(until: .now) { return }
        if ending.isCurrent { throw .waitForItself(thread: name) }

        let target = WaitGraph.Target(kind: .end, thread: ending.identity)
        let wait = try Waits.begin(for: [target], at: SourceLocation(file, line), waking: joinPermit)
        let hasEnded = join(until: .after(timeout))
        Waits.end(wait, timedOut: !hasEnded)
        if !hasEnded { throw .threadStillRunning(thread: name, after: timeout) }
    }

    /// Suspends the task until the thread has ended, and its thread-specific storage and run loop have been destroyed.
    /// It blocks no thread.
    ///
    /// It does not stop the thread. It may be called on the thread itself, as by an actor that the thread runs: the
    /// task continues in the background when the thread has ended. A task has no thread of its own, so the call finds
    /// no deadlock: if the thread waits for this task, the wait ends after the timeout.
    /// - Parameter timeout: the longest wait; negative counts as zero.
    /// - Throws: `DeliveryError` with the code `threadStillRunning` or `threadNotStarted`, or `CancellationError` if
    ///   the task is cancelled.
    public func waitUntilFinished(timeout: Duration) async throws {
        if mailbox.isOfParent { return }
        _ = try endingThread()
        let deadline = SuspendingClock.Instant.after(timeout)
        let stillRunning = DeliveryError.threadStillRunning(thread: name, after: timeout)
        let ended = TaskWait()
        defer { mailbox.endObservers.remove(ended) }
        if mailbox.endObservers.add(ended) { try await ended.wait(until: deadline, orThrow: stillRunning) }
        if join(until: .now) { return }
        // Only destructors of thread-specific storage still run, so this blocks a thread of Dispatch for a moment.
        let joined = TaskWait()
        DispatchQueue.global().async { if self.join(until: deadline) { joined.end() } }
        try await joined.wait(until: deadline, orThrow: stillRunning)
    }

    /// The thread on which this one ends: itself, or the one that stopped it before it started.
    /// - Throws: `DeliveryError.threadNotStarted`.
    private func endingThread() throws(DeliveryError) -> (
        identity: ThreadIdentity?, thread: SystemThread?, isCurrent: Bool
    ) {
        let (phase, thread) = state.withLock { ($0.phase, $0.thread) }
        switch phase {
        case .idle: throw .threadNotStarted(thread: name)
        case .stoppedBeforeStart(let stopping): return (stopping, nil, stopping == .current)
        case .started: return (identity, thread, thread?.isCurrent == true)
        }
    }

    /// Blocks the calling thread until the thread was joined, here or by another call, or has ended without a start.
    /// - Returns: false if the deadline passed.
    private func join(until deadline: SuspendingClock.Instant) -> Bool {
        guard joinPermit.wait(until: deadline) else { return false }
        defer { joinPermit.signal() }
        guard let thread = state.withLock({ $0.thread }) else { return true }
        guard thread.join(until: deadline) else { return false }
        state.withLock { $0.thread = nil }
        return true
    }

    private static func main(_ name: String, _ mailbox: Mailbox, _ isAttached: MonotonicSemaphore) {
        ThreadIdentity.nameCurrentThread(name)
        CLinuxRequestShortTimeSlices()
        ThreadContext.withCurrent { context in
            context.adopt(mailbox)
            context.attach(EventSignal.make(context) ?? RunLoopSignal(.current))
        }
        isAttached.signal()
        while mailbox.isOpen {
            if ThreadContext.withCurrent({ $0.sleep != nil }) {
                // The sleep ends this run when the mailbox is closed.
                RunLoop.runCurrent(for: nil)
            } else {
                RunLoop.runCurrentUntilSourceHandled()
            }
        }
        ThreadContext.withCurrent { context in
            EventSignal.ownRunIsOver(context)
            // The mailbox first, because a block may add a port that is signalled already; then one pass for all
            // signalled sources.
            Drain.run(context, ignoresBudget: true)
            RunLoop.runCurrentOnce()
            context.endMailbox()
        }
    }
}

/// An actor runs on the thread if it has `nonisolated var unownedExecutor: UnownedSerialExecutor {
/// thread.asUnownedSerialExecutor() }`; a task, if it was made with `executorPreference: thread`. Both wait until the
/// thread is started.
extension RunLoopThread: SerialExecutor, TaskExecutor {
    /// Enqueues a job. After the thread has ended, jobs run in the background, one at a time, so that no task is
    /// suspended for ever.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if mailbox.enqueue(Delivery(.job(job, self))) != nil { runLate(job) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// True if the calling code runs on this thread, or in a job that runs in the background because the thread has
    /// ended. `assumeIsolated` calls this.
    public func isIsolatingCurrentContext() -> Bool? {
        mailbox.isCurrent || ThreadContext.current.standsInFor === self
    }

    public func checkIsolated() {
        precondition(
            isIsolatingCurrentContext() == true,
            "RunLoopThread: this code must run on \(mailbox.description), and runs on \(ThreadIdentity.current).")
    }

    func runJob(_ job: UnownedJob) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    func runLate(_ job: UnownedJob) {
        let queue = state.withLock { state in
            let queue = state.lateJobs ?? DispatchQueue(label: "\(name), ended")
            state.lateJobs = queue
            return queue
        }
        queue.async {
            let context = ThreadContext.current
            context.standsInFor = self
            self.runJob(job)
            context.standsInFor = nil
        }
    }
}
