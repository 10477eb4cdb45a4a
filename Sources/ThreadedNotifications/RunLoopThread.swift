internal import Dispatch
internal import Foundation

/// A thread that runs its run loop until it is stopped.
///
///     let worker = RunLoopThread(name: "worker")
///     try worker.start()
///     try worker.perform { observer.setUpThreadingSupport() }
///     …
///     worker.stop()
///     try worker.waitUntilFinished(limit: .seconds(5))
///
///     idle ──start──► running ──stop──► stopping ──drained──► ended
///       └──────stop──────────────────────────────────────────► ended
///
/// What happens: the thread runs its run loop in the default mode, handling what was signalled first before what was
/// signalled later, and ends after `stop()`. It keeps itself alive until then: dropping the last reference does not end it.
/// Threads: every method may be called on any thread.
/// Order: blocks are performed in the order in which they were handed over.
/// Cost: a thread, and the descriptors of its run loop until it ends.
public final class RunLoopThread: Sendable {
    private enum Phase {
        case idle
        case running
        case stopping
        case stoppedBeforeStart
    }

    private struct State {
        var phase = Phase.idle
        var blocks = PendingDeliveries<@Sendable () -> Void>()
        /// Nil before the thread is created and after it was joined.
        var thread: SystemThread?
    }

    /// What the thread is called, here and in `ThreadIdentity`; the kernel keeps the first 15 bytes.
    public let name: String

    private let state = Locked(State())
    private let port = SignalPort()
    /// A thread can be joined once, so those who wait for its end take turns.
    private let joinTurn = DispatchSemaphore(value: 1)

    /// A thread that is not started yet.
    public init(name: String) {
        self.name = name
    }

    deinit {
        // Nobody can wait for the end any more; the system may forget the thread when it ends.
        state.withLock { $0.thread }?.detach()
    }

    /// Starts the thread. What is performed from now on is held until its run loop runs.
    ///
    /// - Throws: `DeliveryError.threadAlreadyStarted`, `.threadStopped` if it was stopped before it started, or
    ///   `.threadNotCreated`; after the last it may be tried again.
    public func start() throws(DeliveryError) {
        try state.withLock { state throws(DeliveryError) in
            switch state.phase {
            case .idle: break
            case .running, .stopping: throw .threadAlreadyStarted(thread: name)
            case .stoppedBeforeStart: throw .threadStopped(thread: name)
            }
            switch SystemThread.start({ self.main() }) {
            case .success(let thread): state.thread = thread
            case .failure(let error): throw .threadNotCreated(thread: name, code: error.code)
            }
            state.phase = .running
        }
    }

    /// Asks the thread to end, and returns at once.
    ///
    /// What happens: the handler under way, if any, returns; every block that `perform(_:)` accepted is performed; each
    /// port that is signalled by then is handled once more; then the thread ends. Further blocks are refused.
    /// Stopping twice is stopping once. Called on the thread itself it does the same. A thread that was stopped
    /// before it started never runs.
    public func stop() {
        let mustSignal = state.withLock { state in
            switch state.phase {
            case .idle: state.phase = .stoppedBeforeStart
            case .running: state.phase = .stopping
            case .stopping, .stoppedBeforeStart: break
            }
            return state.phase == .stopping
        }
        if mustSignal { port.signal() }
    }

    /// Waits until the thread has ended, its thread-specific storage and run loop gone.
    ///
    /// It does not stop the thread. Several threads may wait. A thread that was stopped before it started has ended.
    /// - Parameter limit: how long to wait at most; negative counts as zero.
    /// - Throws: `DeliveryError.threadStillRunning` when the limit has passed, `.threadNotStarted`, or `.waitForItself`.
    public func waitUntilFinished(limit: Duration) throws(DeliveryError) {
        let (phase, thread) = state.withLock { ($0.phase, $0.thread) }
        switch phase {
        case .idle: throw .threadNotStarted(thread: name)
        case .stoppedBeforeStart: return
        case .running, .stopping: break
        }
        if let thread, thread.isCurrent { throw .waitForItself(thread: name) }

        let deadline = ContinuousClock.Instant.after(limit)
        guard joinTurn.wait(timeout: .now() + .nanoseconds(deadline.nanosecondsFromNow)) == .success else {
            throw .threadStillRunning(thread: name, after: limit)
        }
        defer { joinTurn.signal() }
        guard let thread = state.withLock({ $0.thread }) else { return }
        guard thread.join(until: deadline) else {
            throw .threadStillRunning(thread: name, after: limit)
        }
        state.withLock { $0.thread = nil }
    }

    /// Performs a block on the thread, after all that was handed over before it.
    ///
    /// It never waits, also not on the thread itself: there the block is performed after the handler under way. The block
    /// must return: one that calls `Thread.exit()` ends the thread without draining.
    /// - Throws: `DeliveryError.threadNotStarted`, or `.threadStopped` once `stop()` was called; then the block
    ///   will not be performed. A block that was accepted is.
    public func perform(_ block: @escaping @Sendable () -> Void) throws(DeliveryError) {
        let mustSignal = try state.withLock { state throws(DeliveryError) in
            switch state.phase {
            case .idle: throw .threadNotStarted(thread: name)
            case .running: return state.blocks.append(block)
            case .stopping, .stoppedBeforeStart: throw .threadStopped(thread: name)
            }
        }
        if mustSignal { port.signal() }
    }

    private func main() {
        ThreadIdentity.nameCurrentThread(name)
        let receiver = BlockReceiver(thread: self)
        port.setDelegate(receiver)
        RunLoop.current.add(port, forMode: .common)
        withExtendedLifetime(receiver) {
            while state.withLock({ $0.phase == .running }) {
                _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            }
            // Blocks first, since one may add a port that was signalled already; then one pass for all that is
            // signalled.
            while performFirstBlock() {}
            RunLoop.runCurrentOnce()
        }
        port.invalidate()
    }

    fileprivate func performWaitingBlocks() {
        let (count, mustSignal) = state.withLock { $0.blocks.beginDrain() }
        if mustSignal { port.signal() }
        for _ in 0..<count {
            guard performFirstBlock() else { break }
        }
        if state.withLock({ $0.blocks.endDrain() }) { port.signal() }
    }

    private func performFirstBlock() -> Bool {
        guard let block = state.withLock({ $0.blocks.takeFirst() }) else { return false }
        block()
        return true
    }
}

/// The delegate of a thread's port: blocks are waiting, or the thread was stopped.
private final class BlockReceiver: PortDelegate {
    private let thread: RunLoopThread

    init(thread: RunLoopThread) {
        self.thread = thread
    }

    func handle(_ message: PortMessage) {
        thread.performWaitingBlocks()
    }
}
