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
/// Threads: any.
/// Order: notifications, blocks and the jobs of actors run in the order in which they were enqueued. Ports are handled
/// in the order in which they were signalled, and in no fixed order with notifications, blocks and jobs.
/// Actors: the thread is one serial executor. The jobs of its actors and tasks do not interleave, nor does one begin
/// while a handler with `isolatedTo:` runs. A job that becomes ready while one of them runs the run loop or waits comes
/// after it. So a job that runs the run loop until another actor of the thread has changed something waits for ever:
/// use `await`, which ends the job. Such a run of the run loop delivers notifications and blocks in the middle of the
/// job, also to handlers with `isolatedTo:`. A `Task.immediate` that code on the thread makes is no job until it
/// suspends: it runs at once.
/// Run loop: the thread sleeps in the last observer of `beforeWaiting`, which also drains the mailbox. So a handler may
/// run after the other observers of `beforeWaiting` and before those of `afterWaiting`. A whole pass follows.
/// Cost: a thread, and the descriptors of its run loop and an eventfd until it ends. The thread asks the scheduler for
/// short time slices (0.1 ms, since Linux 6.12), so that it runs as soon as it is woken, also if the posting thread
/// continues on the same processor. Its share of processor time and its priority do not change. Threads that it starts
/// have the usual slices, because of the flag `SCHED_RESET_ON_FORK`: an unprivileged process cannot clear it, and
/// changes the policy of this thread only together with it.
public final class RunLoopThread: DeliveryTarget {
    private enum Phase {
        case idle
        /// Nil: it was joined.
        case started(SystemThread?)
        /// It ends on the thread that stopped it.
        case stoppedBeforeStart(by: ThreadIdentity)
    }

    private struct State {
        var phase = Phase.idle
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
    public init(name: String) {
        self.name = name
        mailbox = Mailbox(threadName: name)
    }

    deinit {
        // A copy of the process has nothing of the thread.
        if mailbox.isOfParent { return }
        // No caller can join the thread any more, so the system releases it when it ends.
        if case .started(let thread?) = state.withLock({ $0.phase }) { thread.detach() }
        // Its end has been reported, unless it was never started.
        if let lost = mailbox.end() { mailbox.reportEnd(lost) }
    }

    public var targetThread: TargetThread { TargetThread(mailbox: mailbox) }
    /// Nil before it was started.
    public var identity: ThreadIdentity? { mailbox.identity }

    /// Starts the thread, and returns when it accepts notifications and blocks.
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
            // Retained by the thread's context, and not on its stack, because a handler may call `Thread.exit()`. Until
            // then this call retains it.
            let started = SystemThread.start { [weak self, name, mailbox] in
                ThreadContext.current.keepsAlive = self
                Self.main(name, mailbox, isAttached)
            }
            switch started {
            case .success(let thread): state.phase = .started(thread)
            case .failure(let error): throw .threadNotCreated(thread: name, code: error.code)
            }
            joinPermit.signal()
        }
        isAttached.wait()
    }

    /// Asks the thread to end, and returns at once.
    ///
    /// The running handler returns, the notifications and blocks that wait are delivered, each signalled port is
    /// handled once more, and the thread ends. Notifications that are posted later are `targetGone`, and later blocks
    /// are refused. A second call has no effect. A thread that was stopped before it started never runs.
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
    /// - Parameter timeout: the longest wait; negative counts as zero.
    /// - Throws: `DeliveryError.threadStillRunning` after the timeout, `.threadNotStarted`, `.waitForItself`, or
    ///   `.waitWouldDeadlock` if the thread waits for the calling one.
    @available(*, noasync, message: "it blocks the thread; use await")
    public func waitUntilFinished(timeout: Duration, file: String = #fileID, line: Int = #line) throws(DeliveryError) {
        if mailbox.isOfParent { return }
        let ending: ThreadIdentity?
        switch state.withLock({ $0.phase }) {
        case .idle: throw .threadNotStarted(thread: name)
        case .stoppedBeforeStart(let stopping):
            if join(until: .now) { return }
            if stopping == .current { throw .waitForItself(thread: name) }
            ending = stopping
        case .started(let thread):
            // A wait for a thread that runs, or ran until now, is always traced.
            if thread == nil { return }
            if thread?.isCurrent == true { throw .waitForItself(thread: name) }
            ending = identity
        }
        let target = WaitGraph.Target(kind: .end, thread: ending)
        let wait = try Waits.begin(for: [target], at: SourceLocation(file, line), waking: joinPermit)
        let hasEnded = join(until: .after(timeout))
        Waits.end(wait, timedOut: !hasEnded)
        if !hasEnded { throw .threadStillRunning(thread: name, after: timeout) }
    }

    /// As the function that blocks, but suspends the task and blocks no thread.
    ///
    /// It may be called on the thread itself, as by an actor that the thread runs: the task continues in the background
    /// when the thread has ended. A task has no thread of its own, so the call finds no deadlock: if the thread waits
    /// for this task, the wait ends after the timeout.
    /// - Throws: `DeliveryError` with the code `threadStillRunning` or `threadNotStarted`, or `CancellationError` if
    ///   the task is cancelled.
    public func waitUntilFinished(timeout: Duration) async throws {
        if mailbox.isOfParent { return }
        if case .idle = state.withLock({ $0.phase }) { throw DeliveryError.threadNotStarted(thread: name) }
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

    /// Blocks the calling thread until the thread was joined, here or by another call, or has ended without a start.
    /// - Returns: false if the deadline passed.
    private func join(until deadline: SuspendingClock.Instant) -> Bool {
        guard joinPermit.wait(until: deadline) else { return false }
        defer { joinPermit.signal() }
        guard case .started(let thread?) = state.withLock({ $0.phase }) else { return true }
        guard thread.join(until: deadline) else { return false }
        state.withLock { $0.phase = .started(nil) }
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
            // The sleep, if there is one, ends this run when the mailbox is closed.
            RunLoop.runCurrent(untilSourceHandled: ThreadContext.withCurrent { $0.sleep == nil })
        }
        ThreadContext.withCurrent { context in
            EventSignal.ownRunIsOver(context)
            // The mailbox first, because a block may add a port that is signalled already; then one pass for all
            // signalled sources.
            Drain.run(context, ignoresBudget: true)
            RunLoop.runCurrent(for: 0)
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

    /// True if the calling code runs on this thread, or in a job that runs in the background because the thread has
    /// ended. `assumeIsolated` calls this.
    public func isIsolatingCurrentContext() -> Bool? { mailbox.isCurrent || ThreadContext.current.standsInFor === self }

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
