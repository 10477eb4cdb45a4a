public import Foundation

/// A port whose messages carry nothing: each says "look in the mailbox".
///
/// Foundation on Linux has no `NSMachPort`. This is a `Port` for the one thing that the document needs of it, and it
/// is used in the same way: set a delegate, add the port to a run loop, send from any thread.
///
///     let port = SignalPort()
///     port.setDelegate(receiver)
///     RunLoop.current.add(port, forMode: .common)
///     …
///     port.send(before: Date(), components: nil, from: nil, reserved: 0)   // on any thread
///
/// What happens: the delegate's `handle(_:)` is called on the thread of the run loop, in a mode that the port was added
/// for. A signal sent while that run loop does not run, or before the port was added to it, is held until it does.
/// Signals that wait are one: any number of them calls the delegate once.
///
///     idle ──send──► signalled ──run loop──► handle(_:) ──► idle
///       └────────────────┴─── invalidate(), or the run loop's thread ends ───► invalid
///
/// Threads: `send` and `invalidate` may be called on any thread. Add the port on the thread whose run loop it is to
/// serve, or to `RunLoop.main`; it serves one run loop at a time.
/// Removal: after `invalidate()` no further call to the delegate begins; one that is running goes on.
/// The run loop retains the port until it is removed, invalidated, or its thread ends; then the port is invalid.
/// Cost: no descriptor. Sending takes a lock, and a system call to wake the run loop.
/// Source: "Delivering Notifications To Particular Threads", the paragraphs on `notificationPort`.
open class SignalPort: Port {
    private struct State {
        var isValid = true
        var delegate = DelegateReference()
        var runLoop: RunLoopReference?
        var modes: Set<RunLoop.Mode> = []
        /// The kernel's ids of the threads that are in `remove(from:forMode:)`. What such a thread cancels is no end of
        /// a thread.
        var removingThreads: [Int32] = []
    }

    private let state = Locked(State())
    private let source: RunLoopSource

    /// A valid port that is on no run loop yet.
    public override init() {
        // The source does not own the port, so that a port that nobody holds can go.
        let target = WeakPort()
        source = RunLoopSource(
            perform: { target.port?.receiveSignal() }, cancelled: { target.port?.sourceWasCancelled() })
        super.init()
        target.port = self
    }

    deinit {
        // The run loop's reference to the port is gone already, so there is nobody left to post to.
        source.invalidate()
        state.withLock { $0.runLoop }?.wakeUp()
    }

    /// False once the port was invalidated or the thread of its run loop has ended.
    open override var isValid: Bool {
        state.withLock { $0.isValid }
    }

    /// Sets who is called when a signal arrives. The port does not retain it.
    open override func setDelegate(_ delegate: (any PortDelegate)?) {
        let reference = DelegateReference(object: delegate)
        state.withLock { $0.delegate = reference }
    }

    open override func delegate() -> (any PortDelegate)? {
        state.withLock { $0.delegate }.object
    }

    /// Signals the port and wakes its run loop; never waits.
    ///
    /// - Parameters: all are ignored: a signal has no content, needs no reply and is accepted at once.
    /// - Returns: false if the port is invalid, because then nobody will ever look.
    @discardableResult
    open override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?, reserved headerSpaceReserved: Int
    ) -> Bool {
        signal()
    }

    /// `send` without the arguments that a signal has no use for.
    @discardableResult
    package final func signal() -> Bool {
        // Signal first: a run loop that the port is added to after the look below is woken by `schedule`, and finds it.
        source.signal()
        let (isValid, runLoop) = state.withLock { ($0.isValid, $0.runLoop) }
        runLoop?.wakeUp()
        return isValid
    }

    /// Ends the port: no further signal is accepted or handled, and the run loop lets go of it.
    ///
    /// Posts `Port.didBecomeInvalidNotification` on the calling thread, once however often it is called; and again
    /// whenever the invalid port is added to a run loop, which then lets go of it.
    open override func invalidate() {
        let (wasValid, runLoop) = state.withLock { state in
            defer {
                state.isValid = false
                state.runLoop = nil
            }
            return (state.isValid, state.runLoop)
        }
        guard wasValid else { return }
        source.invalidate()
        // This is how Foundation's RunLoop learns that it no longer need retain the port and itself.
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
        // A run loop without sources returns, but only once it looks.
        runLoop?.wakeUp()
    }

    /// Called by `RunLoop.add(_:forMode:)`.
    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let reference = Self.reference(to: runLoop)
        let isValid = state.withLock { state in
            if let present = state.runLoop {
                precondition(
                    present.isSame(as: reference),
                    "SignalPort: the port is on another thread's run loop already. Make one port for each thread.")
            }
            guard state.isValid else { return false }
            state.runLoop = reference
            state.modes.insert(mode)
            return true
        }
        guard isValid else {
            // The run loop retains the port by now, and missed the notification that makes it let go.
            NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
            return
        }
        source.add(to: reference, mode: mode)
        // The main run loop may be asleep, and a signal sent before now woke nobody.
        reference.wakeUp()
    }

    private static func reference(to runLoop: RunLoop) -> RunLoopReference {
        // Foundation does not show a RunLoop's CFRunLoop, but these two can be told by what they are.
        if runLoop === RunLoop.main { return .main }
        precondition(
            runLoop === RunLoop.current,
            "SignalPort: add the port on the thread whose run loop it is to serve, or to RunLoop.main.")
        return .current
    }

    /// Called by `RunLoop.remove(_:forMode:)`.
    open override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let thread = SystemThread.currentKernelID
        let reference: RunLoopReference? = state.withLock { state in
            guard state.modes.remove(mode) != nil, let reference = state.runLoop else { return nil }
            if state.modes.isEmpty { state.runLoop = nil }
            state.removingThreads.append(thread)
            return reference
        }
        guard let reference else { return }
        source.remove(from: reference, mode: mode)
        state.withLock { state in
            if let index = state.removingThreads.lastIndex(of: thread) { state.removingThreads.remove(at: index) }
        }
    }

    /// On the run loop's thread, when the source was signalled.
    fileprivate func receiveSignal() {
        delegate()?.handle(PortMessage(sendPort: nil, receivePort: self, components: nil))
    }

    /// Called when CoreFoundation took the source off a mode of the run loop: on the thread that is in
    /// `remove(from:forMode:)` or `invalidate()`, or on the run loop's own thread when it ends. In the last case this
    /// invalidates the port.
    fileprivate func sourceWasCancelled() {
        let thread = SystemThread.currentKernelID
        // A port that was removed from its last mode has no thread any more: it may be added to another's run loop.
        let threadEnded = state.withLock { state in
            state.isValid && !state.modes.isEmpty && !state.removingThreads.contains(thread)
        }
        if threadEnded { invalidate() }
    }
}

// Safety: `source` is set once and Sendable; everything else is in `state`, behind its lock.
extension SignalPort: @unchecked Sendable {}

// A delegate that is not retained.
//
// Safety: a weak reference is read and written atomically, and the object is called only on the run loop's thread.
private struct DelegateReference: @unchecked Sendable {
    weak var object: (any PortDelegate)?
}

// The port that a source is of.
//
// Safety: a weak reference is read and written atomically, and it is set before the source is on any run loop.
private final class WeakPort: @unchecked Sendable {
    weak var port: SignalPort?
}
