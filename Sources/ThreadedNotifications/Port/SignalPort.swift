public import Foundation

/// A port for messages without content: each says "look in the queue". It takes the place of `NSMachPort`, which
/// Foundation on Linux does not have.
///
///     let port = SignalPort()
///     port.setDelegate(receiver)
///     RunLoop.current.add(port, forMode: .common)
///     …
///     port.send(before: Date(), components: nil, from: nil, reserved: 0)   // on any thread
///
/// The delegate's `handle(_:)` is called on the run loop's thread, in a mode that the port was added for. A signal is
/// kept until the run loop runs in such a mode, also if it was sent before the port was added. Several signals that are
/// kept result in one call.
///
///     idle ──send──► signalled ──run loop──► handle(_:) ──► idle
///       └────────────────┴─── invalidate(), or the run loop's thread ends ───► invalid
///
/// Threads: any. Add the port on the thread of the run loop that serves it, or to `RunLoop.main`. A port serves one run
/// loop at a time.
/// Removal: after `invalidate()` no further call of the delegate begins; a call that is running continues. The run loop
/// retains the port until the port is removed or invalidated, or the thread ends, which invalidates the port.
/// Cost: no descriptor. Sending takes a lock, and a system call to wake the run loop.
/// Source: "Delivering Notifications To Particular Threads", the paragraphs on `notificationPort`.
open class SignalPort: Port {
    private struct State {
        var isValid = true
        var delegate: WeakReference<AnyObject>?
        var runLoop: RunLoopReference?
        var modes: Set<RunLoop.Mode> = []
        /// The kernel's ids of the threads that are in `remove(from:forMode:)`. A cancellation on one of them does not
        /// mean that the run loop's thread ends.
        var removingThreads: Set<Int32> = []
    }

    private let state = Locked(State())
    private let source: RunLoopSource

    /// Makes a valid port that is on no run loop.
    public override init() {
        // The source does not retain the port, so that an unused port can be deallocated.
        let target = Locked<WeakReference<AnyObject>?>(nil)
        let port: @Sendable () -> SignalPort? = { target.withLock(\.self)?.object as? SignalPort }
        source = RunLoopSource(
            perform: {
                guard let port = port() else { return }
                port.delegate()?.handle(PortMessage(sendPort: nil, receivePort: port, components: nil))
            }, cancelled: { port()?.sourceWasCancelled() })
        super.init()
        target.withLock { $0 = WeakReference(self) }
    }

    deinit {
        // The run loop has released the port, so there is no need to post `Port.didBecomeInvalidNotification`.
        source.invalidate()
        state.withLock { $0.runLoop }?.wakeUp()
    }

    /// False after `invalidate()`, and after the thread of its run loop has ended.
    open override var isValid: Bool { state.withLock { $0.isValid } }

    /// Sets the delegate, which the port does not retain.
    open override func setDelegate(_ delegate: (any PortDelegate)?) {
        let reference = delegate.map { WeakReference<AnyObject>($0) }
        state.withLock { $0.delegate = reference }
    }

    open override func delegate() -> (any PortDelegate)? {
        state.withLock { $0.delegate }?.object as? any PortDelegate
    }

    /// Signals the port and wakes its run loop. It never waits. All parameters are ignored, because a signal has no
    /// content and needs no reply.
    /// - Returns: false if the port is invalid.
    @discardableResult
    open override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?, reserved headerSpaceReserved: Int
    ) -> Bool { signal() }

    @discardableResult package final func signal() -> Bool {
        // Signalled before the state is read: if `schedule` adds the port after that, it wakes the run loop, which then
        // finds the signal.
        source.signal()
        let (isValid, runLoop) = state.withLock { ($0.isValid, $0.runLoop) }
        runLoop?.wakeUp()
        return isValid
    }

    /// Ends the port: no further signal is accepted or handled, and the run loop releases the port.
    ///
    /// The first call posts `Port.didBecomeInvalidNotification` on the calling thread. The notification is posted again
    /// each time that the invalid port is added to a run loop, so that the run loop releases it.
    open override func invalidate() {
        let (wasValid, runLoop) = state.withLock { state in
            defer { (state.isValid, state.runLoop) = (false, nil) }
            return (state.isValid, state.runLoop)
        }
        guard wasValid else { return }
        source.invalidate()
        // Foundation's RunLoop releases the port, and itself, when this is posted.
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
        // A run loop that has no sources left returns when it is woken.
        runLoop?.wakeUp()
    }

    /// Called by `RunLoop.add(_:forMode:)`.
    open override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        // Foundation does not give access to the CFRunLoop of a RunLoop, except for these two.
        precondition(
            runLoop === RunLoop.main || runLoop === RunLoop.current,
            "SignalPort: add the port on the thread whose run loop is to serve it, or to RunLoop.main.")
        let reference: RunLoopReference = runLoop === RunLoop.main ? .main : .current
        let isValid = state.withLock { state in
            precondition(
                state.runLoop?.isSame(as: reference) != false,
                "SignalPort: the port is on another thread's run loop already. Make one port for each thread.")
            guard state.isValid else { return false }
            state.runLoop = reference
            state.modes.insert(mode)
            return true
        }
        guard isValid else {
            // The run loop has retained the port already, and releases it only when this is posted.
            NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
            return
        }
        source.add(to: reference, mode: mode)
        // The main run loop may be asleep, and a signal that was sent before now has not woken it.
        reference.wakeUp()
    }

    /// Called by `RunLoop.remove(_:forMode:)`.
    open override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        let thread = SystemThread.currentKernelID
        let reference: RunLoopReference? = state.withLock { state in
            guard state.modes.remove(mode) != nil, let reference = state.runLoop else { return nil }
            if state.modes.isEmpty { state.runLoop = nil }
            state.removingThreads.insert(thread)
            return reference
        }
        guard let reference else { return }
        source.remove(from: reference, mode: mode)
        state.withLock { _ = $0.removingThreads.remove(thread) }
    }

    /// Called when CoreFoundation has removed the source from a mode of the run loop: in `remove(from:forMode:)`, in
    /// `invalidate()`, or because the run loop's thread ends, which invalidates the port.
    private func sourceWasCancelled() {
        // A port that was removed from its last mode may be added to another run loop, so it stays valid.
        let threadEnded = state.withLock { state in
            state.isValid && !state.modes.isEmpty && !state.removingThreads.contains(SystemThread.currentKernelID)
        }
        if threadEnded { invalidate() }
    }
}

// Safety: `source` is set once and Sendable; everything else is in `state`, behind its lock.
extension SignalPort: @unchecked Sendable {}
