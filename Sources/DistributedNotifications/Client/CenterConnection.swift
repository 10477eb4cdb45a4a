internal import Foundation
internal import Glibc
internal import Synchronization
internal import ThreadedNotifications

/// A center's connection: a state that any thread may change, and one thread that connects and reads.
///
///     post ─► FrameSender ─► server ─► ConnectionReader ─► InboundDelivery ─► mailbox ─► observer
///
/// `state`'s lock is held for a few instructions. It may be taken while a `FrameSender`'s lock is held, not the other
/// way round.
final class CenterConnection: Sendable {
    let directory: ServerDirectory
    let limits: ClientLimits
    /// The first pause between attempts to connect.
    let pause: AttemptPause
    let state = Locked(CenterState())
    /// Wakes the reader: the center was closed, there is room again, or the socket did not take all bytes.
    let wake: EventDescriptor
    let waiting: WaitingBytes
    /// The notifications' observers, which the server matches.
    let observers: ValueObservers
    /// The connection's observers.
    let events: ValueObservers
    private let readerID = Atomic<Int32>(0)

    static let eventName = Notification.Name("DistributedCenter.connection")

    /// - Throws: `.pathNotUsable` if the process has no descriptor left.
    init(
        directory: ServerDirectory, limits: ClientLimits, pause: AttemptPause = AttemptPause()
    ) throws(DistributedError) {
        guard let wake = EventDescriptor() else { throw .noDescriptor(path: directory.socketPath) }
        self.directory = directory
        self.limits = limits
        self.pause = pause
        self.wake = wake
        waiting = WaitingBytes(limit: limits.waitingBytes, roomEvent: wake)
        observers = ValueObservers { [state] id in
            guard !ForkGuard.isCopy else { return }
            let (observer, _) = state.withLock { state in
                (state.number(of: id).flatMap { state.remove($0) }, state.removeSequence(id))
            }
            if observer != nil { Self.sendControl(of: state, wake: wake) }
        }
        events = ValueObservers { [state] id in
            if !ForkGuard.isCopy { _ = state.withLock { $0.removeSequence(id) } }
        }
    }

    // MARK: Life

    /// Starts the reader, if it has not been started.
    private func start() throws(DistributedError) {
        guard !ForkGuard.isCopy else { throw .processForked }
        guard state.withLock({ $0.start() }) else { return }
        ForkGuard.install()
        let started = SystemThread.startWithoutSignals { [self] in
            readerID.store(SystemThread.currentKernelID, ordering: .relaxed)
            var reader = ConnectionReader(self)
            reader.run()
        }
        switch started {
        case .success(let thread): thread.detach()
        case .failure(let error):
            state.withLock { $0.startFailed() }
            throw .serverNotStarted(
                path: directory.socketPath, problem: "the system created no thread to read with (error \(error.code))")
        }
    }

    private var isReader: Bool { readerID.load(ordering: .relaxed) == SystemThread.currentKernelID }

    func close() {
        guard !ForkGuard.isCopy else { return }
        let (sender, sequences) = state.withLock { $0.close() }
        observers.removeAll()
        for end in sequences { end() }
        if let sender {
            var farewell = FrameWriter()
            farewell.frame(.farewell)
            // A server that does not read finds the end of the connection instead.
            _ = sender.send(farewell.bytes, until: .now)
        }
        wake.makeReady()
    }

    var connectionState: ConnectionState {
        guard !ForkGuard.isCopy else { return .closed }
        return switch state.withLock({ $0.phase }) {
        case .unused: .unused
        case .connecting(nil): .connecting
        case .connecting(let failure?): .failed(failure)
        case .connected(let sender): .connected(serverProcess: sender.socket.peer?.process ?? 0)
        case .closed: .closed
        }
    }

    // MARK: Observers

    func addObserver(
        name: Notification.Name?, object: String?, behavior: SuspensionBehavior, options: ObserverOptions,
        at location: SourceLocation, using handler: ValueHandler<DistributedNotification>
    ) throws(DistributedError) -> ObserverToken {
        try start()
        let (token, handle) = observers.add(
            named: name, options: options, at: location,
            using: handler.map { (inbound: InboundNotification) in
                inbound.notification
            })
        let observer = CenterState.RegisteredObserver(
            handle: handle, name: name?.rawValue, object: object, behavior: behavior)
        _ = try state.withLock { state throws(DistributedError) in
            try state.add(observer, limit: Wire.observerLimit)
        }
        sendControl()
        return token
    }

    /// Ends a sequence when the center is closed; at once, if it is.
    func endWhenClosed(_ sequence: NotificationSequence<some Any>) {
        let (token, end) = (sequence.tokenID, sequence.ending)
        if !state.withLock({ $0.endWhenClosed(token, end) }) { sequence.cancel() }
    }

    func post(_ event: ConnectionEvent, of waiting: WaitingBytes? = nil) {
        let inbound = InboundEvent(event, of: waiting)
        // Without observers, a post would only add lines to a recording.
        if !events.isEmpty { events.deliverToAll(inbound, named: Self.eventName) }
    }

    // MARK: Sending

    /// Sends a frame, and waits for a connection if there is none.
    func write(_ frame: [UInt8], name: String) throws(DistributedError) {
        guard !ForkGuard.isCopy else { throw .processForked }
        let timeout = limits.postTimeout
        // Usually nothing waits, and reading the clock costs more than the rest of this.
        lazy var deadline = SuspendingClock.Instant.after(timeout)
        while true {
            let sender = try connected(until: deadline, name: name)
            switch sender.send(frame, control: { takeControl(of: sender) }, until: deadline) {
            case .sent: return
            case .ended: state.withLock { $0.lost(sender) }
            case .timedOut:
                throw .notPosted(
                    name: name, problem: "the server does not read: it is busy or stopped", timeout: timeout)
            }
        }
    }

    private func connected(
        until deadline: @autoclosure () -> SuspendingClock.Instant, name: String
    ) throws(DistributedError) -> FrameSender {
        if let sender = state.withLock({ $0.sender }) { return sender }
        let sender = try wait(until: deadline()) { state throws(DistributedError) in
            let sender = try state.connection()
            guard sender != nil || !isReader else {
                throw .wouldWaitForItself("posting \(name) before the server is connected")
            }
            return sender
        }
        guard let sender else {
            throw .notPosted(
                name: name, problem: "no server answered at \(directory.socketPath)", timeout: limits.postTimeout)
        }
        return sender
    }

    /// Sends all waiting control frames without waiting. The reader sends the frames that the socket has no room for; a
    /// later connection is sent everything.
    func sendControl() {
        Self.sendControl(of: state, wake: wake)
    }

    private static func sendControl(of state: Locked<CenterState>, wake: EventDescriptor) {
        guard let sender = state.withLock({ $0.sender }) else { return }
        if sender.flush(control: { state.withLock { $0.takeControl(of: sender) } }) { wake.makeReady() }
    }

    /// - Returns: whether bytes wait until the socket is writable.
    func flush(_ sender: FrameSender) -> Bool {
        sender.flush { takeControl(of: sender) }
    }

    private func takeControl(of sender: FrameSender) -> [UInt8] {
        state.withLock { $0.takeControl(of: sender) }
    }

    var isSuspended: Bool { !ForkGuard.isCopy && state.withLock { $0.isSuspended } }

    func setSuspended(_ flag: Bool) {
        guard !ForkGuard.isCopy else { return }
        if state.withLock({ $0.setSuspended(flag) }) { sendControl() }
    }

    func synchronize(timeout: Duration) throws(DistributedError) {
        guard !ForkGuard.isCopy else { throw .processForked }
        let deadline = SuspendingClock.Instant.after(timeout)
        let number = try state.withLock { state throws(DistributedError) in try state.synchronize() }
        defer { state.withLock { $0.endSynchronization(number) } }
        guard !isReader else { throw .wouldWaitForItself("waiting for the server") }
        sendControl()
        let answered: Void? = try wait(until: deadline) { state throws(DistributedError) in
            try state.isAnswered(number) ? () : nil
        }
        if answered == nil { throw .notAnswered("a synchronization", path: directory.socketPath, timeout: timeout) }
    }

    /// Calls `look` with the state, now and after each change, until it returns a value.
    ///
    /// - Returns: nil if the deadline has passed.
    private func wait<Value: Sendable>(
        until deadline: SuspendingClock.Instant, _ look: (CenterState) throws(DistributedError) -> Value?
    ) throws(DistributedError) -> Value? {
        while true {
            try start()
            let change = MonotonicSemaphore()
            let value = try state.withLock { state throws(DistributedError) -> Value? in
                if let value = try look(state) { return value }
                state.addWaiter(change)
                return nil
            }
            if let value { return value }
            guard change.wait(until: deadline) else {
                state.withLock { $0.removeWaiter(change) }
                return nil
            }
        }
    }
}
