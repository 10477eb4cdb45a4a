internal import CLinux
internal import Dispatch
internal import Foundation

/// A thread that runs its run loop until it is stopped; also an executor, so that an actor can live on it.
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
/// What happens: the thread runs its run loop in the default mode, handling what was signalled first before what was
/// signalled later, and ends after `stop()`. It keeps itself alive until then: dropping the last reference does not end it.
/// Threads: every method may be called on any thread.
/// Order: notifications, blocks and an actor's jobs are handled in the order in which they were handed over.
/// Cost: a thread, and the descriptors of its run loop until it ends. When it has delivered all it looks for more before it sleeps, because to
/// be woken costs ten times as much as to look; `init(name:spins:)` says for how long, and how not to.
public final class RunLoopThread: DeliveryTarget {
    private enum Phase {
        case idle
        case started
        case stoppedBeforeStart
    }

    private struct State {
        var phase = Phase.idle
        /// Nil before the thread is created and after it was joined.
        var thread: SystemThread?
        /// Runs the jobs that come when the thread has ended.
        var lateJobs: DispatchQueue?
    }

    /// What the thread is called, here and in `ThreadIdentity`; the kernel keeps the first 15 bytes.
    public let name: String

    let mailbox: ThreadMailbox
    private let state = Locked(State())
    /// A thread can be joined once, so those who wait for its end take turns.
    private let joinTurn = MonotonicSemaphore(value: 1)

    /// A thread that is not started yet. Notifications for it wait until it is.
    /// - Parameters:
    ///   - name: what it is called.
    ///   - spins: whether the thread looks for more for up to 100 µs when it has delivered all, before it sleeps. What it spends on
    ///     looking in vain is at most what finding has saved, and a little; on one processor it lets others run instead. The
    ///     environment variable `THREADED_NOTIFICATIONS_SPIN=0` turns it off for the whole process; a set-user-id or
    ///     set-group-id process ignores the variable.
    public init(name: String, spins: Bool = true) {
        self.name = name
        mailbox = ThreadMailbox(threadName: name, spins: spins && Self.mayThreadsSpin)
    }

    private static let mayThreadsSpin =
        CLinuxEnvironment("THREADED_NOTIFICATIONS_SPIN").map { String(cString: $0) } != "0"

    deinit {
        // Nobody can wait for the end any more; the system may forget the thread when it ends.
        state.withLock { $0.thread }?.detach()
        mailbox.finish()
    }

    public var targetThread: TargetThread { TargetThread(mailbox: mailbox) }

    /// Who the thread is; nil before it was started.
    public var identity: ThreadIdentity? { mailbox.identity }

    /// Starts the thread, and returns when it takes what is handed to it.
    ///
    /// - Throws: `DeliveryError.threadAlreadyStarted`, `.threadStopped` if it was stopped before it started, or
    ///   `.threadNotCreated`; after the last it may be tried again.
    public func start() throws(DeliveryError) {
        let isAttached = MonotonicSemaphore()
        try state.withLock { state throws(DeliveryError) in
            switch state.phase {
            case .idle: break
            case .started: throw .threadAlreadyStarted(thread: name)
            case .stoppedBeforeStart: throw .threadStopped(thread: name)
            }
            // Kept by what the thread knows of itself, and by nothing on its stack: a handler may call `Thread.exit()`.
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
        }
        isAttached.wait()
    }

    /// Asks the thread to end, and returns at once.
    ///
    /// What happens: the handler under way, if any, returns; what waits in the mailbox by then for the default mode is
    /// delivered; each port that is signalled is handled once more; then the thread ends. What waits for other modes has lost
    /// its target, and so has what is posted from now on; further blocks are refused.
    /// Stopping twice is stopping once. Called on the thread itself it does the same. A thread that was stopped
    /// before it started never runs.
    public func stop() {
        let neverRuns = state.withLock { state in
            if state.phase == .idle { state.phase = .stoppedBeforeStart }
            return state.phase == .stoppedBeforeStart
        }
        if neverRuns { mailbox.finish() } else { mailbox.close() }
    }

    /// Waits until the thread has ended, its thread-specific storage and run loop gone.
    ///
    /// It does not stop the thread. Several threads may wait. A thread that was stopped before it started has ended.
    /// - Parameters:
    ///   - timeout: the longest wait; negative counts as zero.
    ///   - file: the caller's; errors name it.
    ///   - line: the caller's; errors name it.
    /// - Throws: `DeliveryError.threadStillRunning` after the timeout, `.threadNotStarted`, `.waitForItself`, or
    ///   `.waitWouldDeadlock` if the thread waits for the calling one.
    @available(*, noasync, message: "it blocks the thread")
    public func waitUntilFinished(
        timeout: Duration, file: String = #fileID, line: Int = #line
    ) throws(DeliveryError) {
        let (phase, thread) = state.withLock { ($0.phase, $0.thread) }
        switch phase {
        case .idle: throw .threadNotStarted(thread: name)
        case .stoppedBeforeStart: return
        case .started: break
        }
        guard let thread else { return }
        if thread.isCurrent { throw .waitForItself(thread: name) }

        let wait = try ThreadWaits.begin(
            for: identity.map { [.thread($0.number)] } ?? [], waitsFor: "\(mailbox.description) to end",
            at: SourceLocation(file, line))
        defer { ThreadWaits.end(wait) }
        let deadline = ContinuousClock.Instant.after(timeout)
        guard joinTurn.wait(until: deadline) else {
            throw .threadStillRunning(thread: name, after: timeout)
        }
        defer { joinTurn.signal() }
        guard let thread = state.withLock({ $0.thread }) else { return }
        guard thread.join(until: deadline) else {
            throw .threadStillRunning(thread: name, after: timeout)
        }
        state.withLock { $0.thread = nil }
    }

    private static func main(_ name: String, _ mailbox: ThreadMailbox, _ isAttached: MonotonicSemaphore) {
        ThreadIdentity.nameCurrentThread(name)
        ThreadContext.current.attach(mailbox)
        isAttached.signal()
        while mailbox.isOpen {
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
        }
        // The mailbox first, since a block may add a port that was signalled already; then one pass for all that is
        // signalled.
        mailbox.deliverWaiting()
        RunLoop.runCurrentOnce()
        mailbox.finish()
    }
}

/// An actor lives on the thread if it has
/// `nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }`; a task does if it was
/// made with `executorPreference: thread`. Start the thread first: until then they wait.
extension RunLoopThread: SerialExecutor, TaskExecutor {
    /// Has the thread run a job, in its turn. When the thread has ended, jobs are run in the background, one at a time,
    /// so that nobody awaits for ever.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if mailbox.append(MailboxItem(.job(job, self)), holdsUntilStarted: true) != .accepted { runLate(job) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Whether the calling code runs on this thread, or for it when it has ended; `assumeIsolated` asks this.
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
