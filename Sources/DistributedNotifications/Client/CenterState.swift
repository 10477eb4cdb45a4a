internal import Foundation
internal import ThreadedNotifications

/// The state of a center: its connection, its observers, and the control frames that the server was not sent yet.
///
///     unused ──start──► connecting ──connected──► connected
///                        │  ▲  ▲                      │
///                        └──┘  └─────────lost─────────┘
///                       failed            (any) ──close──► closed
struct CenterState {
    private(set) var phase = Phase.unused
    private(set) var isSuspended = false
    private(set) var observers: [UInt32: RegisteredObserver] = [:] { didSet { observersVersion += 1 } }
    /// Changes with each change of the observers.
    private(set) var observersVersion = 0
    /// The frames that were not sent over the present connection yet. A thread that sends takes these first.
    private var control = ControlQueue()
    private var lastObserver: UInt32 = 0
    private var lastSynchronization: UInt64 = 0
    /// The synchronizations that the server has not answered.
    private var synchronizations: Set<UInt64> = []
    /// Signalled at the next change of the phase and at the next answer.
    private var waiters: [MonotonicSemaphore] = []
    /// Closures that end the sequences of this center, by their token's id.
    private var sequences: [UInt64: @Sendable () -> Void] = [:]

    enum Phase {
        case unused
        /// With the error of the last attempt; nil before the first, and after a connection.
        case connecting(DistributedError?)
        case connected(FrameSender)
        case closed
    }

    struct RegisteredObserver {
        var handle: ValueObservers.Handle
        var name: String?
        var object: String?
        var behavior: SuspensionBehavior
    }

    // MARK: Connection

    /// - Returns: whether a reader must be started.
    mutating func start() -> Bool {
        guard case .unused = phase else { return false }
        phase = .connecting(nil)
        return true
    }

    /// The reader could not be started; the next use tries again.
    mutating func startFailed() {
        if case .connecting = phase { phase = .unused }
        signalWaiters()
    }

    /// The server answered on a new connection.
    ///
    /// - Parameter suspended: as the hello told the server.
    /// - Returns: false if the center is closed.
    mutating func connected(_ sender: FrameSender, toldSuspended suspended: Bool) -> Bool {
        if isClosed { return false }
        phase = .connected(sender)
        control = ControlQueue(suspended: suspended)
        control.suspend(isSuspended)
        for (number, observer) in observers.sorted(by: { $0.key < $1.key }) {
            control.register(number, name: observer.name, object: observer.object, behavior: observer.behavior)
        }
        for number in synchronizations.sorted() { control.synchronize(number) }
        signalWaiters()
        return true
    }

    mutating func failed(_ error: DistributedError) {
        guard case .connecting = phase else { return }
        phase = .connecting(error)
        signalWaiters()
    }

    mutating func lost(_ sender: FrameSender) {
        guard self.sender === sender else { return }
        phase = .connecting(nil)
    }

    /// - Returns: the connection and the sequences to end, after the lock is released.
    mutating func close() -> (sender: FrameSender?, sequences: [@Sendable () -> Void]) {
        let ended = (sender, Array(sequences.values))
        phase = .closed
        observers = [:]
        sequences = [:]
        signalWaiters()
        return ended
    }

    var sender: FrameSender? { if case .connected(let sender) = phase { sender } else { nil } }

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// The connection; nil while the center is connecting.
    ///
    /// - Throws: the error of the last attempt, or `.closed`.
    func connection() throws(DistributedError) -> FrameSender? {
        switch phase {
        case .connected(let sender): return sender
        case .closed: throw .closed
        case .connecting(let failure?): throw failure
        case .connecting(nil), .unused: return nil
        }
    }

    // MARK: Waiting

    /// Signals the semaphore at the next change. Without a reader there is none to come, so it is signalled at once.
    mutating func addWaiter(_ semaphore: MonotonicSemaphore) {
        if case .unused = phase { return semaphore.signal() }
        waiters.append(semaphore)
    }

    mutating func removeWaiter(_ semaphore: MonotonicSemaphore) {
        waiters.removeAll { $0 === semaphore }
    }

    private mutating func signalWaiters() {
        for waiter in waiters { waiter.signal() }
        waiters = []
    }

    // MARK: Requests

    mutating func takeControl(of sender: FrameSender) -> [UInt8] {
        self.sender === sender ? control.take() : []
    }

    /// - Returns: the observer's number at the server.
    mutating func add(_ observer: RegisteredObserver, limit: Int) throws(DistributedError) -> UInt32 {
        if isClosed { throw .closed }
        guard observers.count < limit else { throw .tooManyObservers(limit: limit) }
        lastObserver += 1
        observers[lastObserver] = observer
        if sender != nil {
            control.register(lastObserver, name: observer.name, object: observer.object, behavior: observer.behavior)
        }
        return lastObserver
    }

    /// The number at the server of the observer with this id.
    func number(of id: UInt64) -> UInt32? { observers.first { $0.value.handle.id == id }?.key }

    /// - Returns: the observer, to be released after the lock: that may run foreign code.
    mutating func remove(_ number: UInt32) -> RegisteredObserver? {
        guard let observer = observers.removeValue(forKey: number) else { return nil }
        if sender != nil { control.unregister(number) }
        return observer
    }

    /// - Returns: whether this is a change.
    mutating func setSuspended(_ flag: Bool) -> Bool {
        guard isSuspended != flag else { return false }
        isSuspended = flag
        if sender != nil { control.suspend(flag) }
        return true
    }

    /// Requests an answer from the server.
    ///
    /// - Returns: the request's number, for `isAnswered` and `endSynchronization`.
    mutating func synchronize() throws(DistributedError) -> UInt64 {
        if isClosed { throw .closed }
        lastSynchronization += 1
        synchronizations.insert(lastSynchronization)
        if sender != nil { control.synchronize(lastSynchronization) }
        return lastSynchronization
    }

    /// - Throws: the error of the last attempt to connect, or `.closed`.
    func isAnswered(_ number: UInt64) throws(DistributedError) -> Bool {
        guard !isClosed else { throw .closed }
        if !synchronizations.contains(number) { return true }
        _ = try connection()
        return false
    }

    /// The request was answered, or no thread waits for the answer.
    mutating func endSynchronization(_ number: UInt64) {
        control.cancelSynchronization(number)
        if synchronizations.remove(number) != nil { signalWaiters() }
    }

    // MARK: Sequences

    /// Ends a sequence when the center is closed.
    ///
    /// - Returns: false if it is closed.
    mutating func endWhenClosed(_ token: UInt64, _ end: @escaping @Sendable () -> Void) -> Bool {
        if isClosed { return false }
        sequences[token] = end
        return true
    }

    mutating func removeSequence(_ token: UInt64) -> (@Sendable () -> Void)? {
        sequences.removeValue(forKey: token)
    }

    var sequenceCount: Int { sequences.count }
}
