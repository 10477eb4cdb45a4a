internal import Foundation
internal import ThreadedNotifications

/// A center's connection: a state that any thread may change, and one thread that connects and reads.
///
///     post ─► FrameSender ─► server ─► CenterReader ─► InboundDelivery ─► mailbox ─► observer
///
/// `state`'s lock is held for a few instructions. It may be taken while a `FrameSender`'s lock is held, not the other
/// way round. A copy of the process, made by `fork`, has the descriptors but not the threads, and a lock that was held
/// is never unlocked in it, so nothing is done there.
final class CenterConnection: Sendable {
    let directory: ServerDirectory
    private let postTimeout: Duration
    let state: Locked<CenterState>
    /// Wakes the reader: the center was closed, or the socket did not take all bytes.
    let wake: EventDescriptor
    /// The notifications' observers, which the server matches.
    let observers: ValueObservers
    /// The connection's observers.
    let events = ValueObservers()

    static let eventName = Notification.Name("DistributedCenter.connection")

    /// - Throws: `.pathNotUsable` if the process has no descriptor left.
    init(directory: ServerDirectory, postTimeout: Duration) throws(DistributedError) {
        guard let wake = EventDescriptor() else {
            let problem = "this process has no file descriptor left. Close files, or raise the limit (ulimit -n)"
            throw .pathNotUsable(path: directory.socketPath, problem: problem)
        }
        (self.directory, self.postTimeout, self.wake) = (directory, postTimeout, wake)
        let state = Locked(CenterState())
        self.state = state
        observers = ValueObservers { id in
            guard !ForkedCopy.isCopy else { return }
            let removed = state.withLock { $0.remove(id) }
            if removed != nil { Self.sendControl(of: state, wake: wake) }
        }
    }

    // MARK: Life

    /// Starts the reader, if it has not been started.
    private func start() throws(DistributedError) {
        guard state.withLock({ $0.start() }) else { return }
        let started = SystemThread.startWithoutSignals { [self] in
            var reader = CenterReader(self)
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

    /// Never waits: a server that does not read finds the end of the connection instead of a farewell.
    func close() {
        guard !ForkedCopy.isCopy else { return }
        let sender = state.withLock { $0.close() }
        for all in [observers, events] { all.removeAll() }
        if let sender {
            var farewell = FrameWriter()
            farewell.frame(.farewell)
            _ = sender.send(farewell.bytes, until: .now)
        }
        wake.makeReady()
    }

    var serverProcess: Int32? {
        ForkedCopy.isCopy ? nil : state.withLock { $0.sender?.socket.peer?.process }
    }

    // MARK: Observers

    func addObserver(
        _ name: Notification.Name?, _ object: String?, _ behavior: SuspensionBehavior, _ options: ObserverOptions,
        _ location: SourceLocation, _ handler: ValueHandler<DistributedNotification>
    ) throws(DistributedError) -> ObserverToken {
        try DistributedCenter.check(name: name?.rawValue, object: object)
        guard !ForkedCopy.isCopy else { throw .processForked }
        let (token, handle) = observers.add(named: name, options: options, at: location, using: handler)
        let observer = CenterState.RegisteredObserver(
            handle: handle, name: name?.rawValue, object: object, behavior: behavior)
        try state.withLock { state throws(DistributedError) in try state.add(observer) }
        try start()
        sendControl()
        return token
    }

    func addObserver(
        _ options: ObserverOptions, _ location: SourceLocation, _ handler: ValueHandler<ConnectionEvent>
    ) -> ObserverToken {
        let (token, _) = events.add(named: Self.eventName, options: options, at: location, using: handler)
        if ForkedCopy.isCopy || state.withLock({ $0.isClosed }) { token.cancel() }
        return token
    }

    /// Delivers an event to the connection's observers.
    func post(_ event: ConnectionEvent) {
        // Without observers, a post would only add lines to a recording.
        if !events.isEmpty { events.deliverToAll(PayloadValue(event, named: Self.eventName)) }
    }

    // MARK: Sending

    /// - Parameter numbers: those of the last connection's posts.
    func sender(over socket: LocalSocket, _ numbers: PostNumbers) -> FrameSender {
        FrameSender(socket, numbers) { [state] sender in state.withLock { $0.takeControl(of: sender) } }
    }

    /// Sends a post, and waits for a connection if there is none.
    func write(
        _ frame: consuming OutgoingFrame, name: String, at location: SourceLocation
    ) throws(DistributedError) {
        guard !ForkedCopy.isCopy else { throw .processForked }
        // Usually nothing waits, and reading the clock costs more than the rest of this.
        lazy var deadline = SuspendingClock.Instant.after(postTimeout)
        func notPosted(_ problem: String) -> DistributedError {
            .notPosted(name: name, at: location, problem: problem, timeout: postTimeout)
        }
        while true {
            var sender = state.withLock { $0.sender }
            if sender == nil {
                sender = try wait(until: deadline) { state throws(DistributedError) in try state.connection() }
            }
            guard let sender else {
                throw notPosted("no server answered at \(directory.socketPath). If one is stopped, continue or end it")
            }
            switch sender.send(&frame, until: deadline) {
            case .sent: return
            case .ended: state.withLock { $0.lost(sender) }
            case .timedOut:
                throw notPosted(
                    "the server does not read: it is busy or stopped. Find its process, and continue or end it")
            }
        }
    }

    /// Sends what the server was not told yet, without waiting. The reader sends what the socket has no room for; a
    /// later connection is told everything.
    func sendControl() { Self.sendControl(of: state, wake: wake) }

    private static func sendControl(of state: Locked<CenterState>, wake: EventDescriptor) {
        guard let sender = state.withLock({ $0.sender }) else { return }
        if sender.flush() { wake.makeReady() }
    }

    var isSuspended: Bool { !ForkedCopy.isCopy && state.withLock { $0.isSuspended } }

    func setSuspended(_ flag: Bool) {
        guard !ForkedCopy.isCopy else { return }
        state.withLock { $0.setSuspended(flag) }
        sendControl()
    }

    func synchronize(timeout: Duration) throws(DistributedError) {
        guard !ForkedCopy.isCopy else { throw .processForked }
        let deadline = SuspendingClock.Instant.after(timeout)
        let number = try state.withLock { state throws(DistributedError) in try state.synchronize() }
        sendControl()
        let answered: Void? = try wait(until: deadline) { state throws(DistributedError) in
            try state.isAnswered(number) ? () : nil
        }
        if answered == nil { throw .notAnswered("a synchronization", path: directory.socketPath, timeout: timeout) }
    }

    /// Calls `look` with the state, now and after each change, until it returns a value.
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
