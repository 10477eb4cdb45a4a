internal import Foundation
internal import ThreadedNotifications

/// The state of a center, and the part of it that the server was told: a pure value. Its functions return the reader's
/// next pause or the bytes to send, for the caller to act on after the lock was released.
///
///     unused ──start──► connecting ──welcome──► connected
///                         │    ▲                    │
///                         └────┴────── pause ◄──────┘ end      (any) ──close──► closed
struct CenterState {
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

    private(set) var phase = Phase.unused { didSet { signalWaiters() } }
    private(set) var isSuspended = false
    /// By their numbers at the server.
    private(set) var observers: [UInt32: RegisteredObserver] = [:] {
        didSet { (observersVersion, isTold) = (observersVersion + 1, false) }
    }
    /// Changes with each change of the observers.
    private(set) var observersVersion = 0
    private var lastObserver: UInt32 = 0
    /// How many were removed.
    private(set) var removals = 0
    /// The last synchronization that was asked for, and the last that the server has answered, and so all before.
    private var (asked, answered): (UInt64, UInt64) = (0, 0)
    /// The state that the server was told over the present connection.
    private var told = (isSuspended: false, observers: Set<UInt32>(), synchronization: UInt64(0))
    /// False if the state has changed since.
    private var isTold = false
    /// The server was told over the present connection that delivery is suspended.
    private var wasSuspended = false
    /// Signalled at the next change of the phase and at the next answer.
    private var waiters: [MonotonicSemaphore] = []
    private var nextPause = Wire.shortestPause

    // MARK: The connection

    /// - Returns: whether a reader must be started.
    mutating func start() -> Bool {
        guard case .unused = phase else { return false }
        phase = .connecting(nil)
        return true
    }

    /// The reader could not be started; the next use tries again.
    mutating func startFailed() { if case .connecting = phase { phase = .unused } }

    /// The server answered on a new connection.
    /// - Parameter suspended: as the hello told the server.
    /// - Returns: false if the center is closed.
    mutating func connected(_ sender: FrameSender, toldSuspended suspended: Bool) -> Bool {
        if isClosed { return false }
        (phase, isTold) = (.connected(sender), false)
        told = (suspended, [], answered)
        wasSuspended = suspended
        return true
    }

    /// An attempt to connect has failed.
    /// - Parameter error: nil if the connection ended before the server answered, as when a server stops. Then posts
    ///   wait for the next attempt.
    /// - Returns: the pause before the next one, and the event, if it is another error than the one before.
    mutating func failed(_ error: DistributedError?) -> (pause: Duration, event: ConnectionEvent?) {
        guard case .connecting(let last) = phase else { return (.zero, nil) }
        return (pause(error), last == error ? nil : error.map { .failed($0) })
    }

    /// A thread found that the connection has ended. The reader will find it too.
    mutating func lost(_ sender: FrameSender) {
        if self.sender === sender { phase = .connecting(nil) }
    }

    /// The reader found that the connection has ended.
    /// - Parameter isRefusal: whether the server refused this process, or cannot be understood, so that it may do so
    ///   again.
    mutating func ended(reason: String, isRefusal: Bool) -> (pause: Duration, event: ConnectionEvent?) {
        if isClosed { return (.zero, nil) }
        if !isRefusal { nextPause = Wire.shortestPause }
        return (pause(nil), .interrupted(reason: reason))
    }

    private mutating func pause(_ error: DistributedError?) -> Duration {
        defer { nextPause = min(nextPause * 2, Wire.longestPause) }
        phase = .connecting(error)
        return nextPause
    }

    /// - Returns: the connection to end.
    mutating func close() -> FrameSender? {
        defer { (phase, observers) = (.closed, [:]) }
        return sender
    }

    var sender: FrameSender? { if case .connected(let sender) = phase { sender } else { nil } }
    /// The server may have skipped posts as their observers asked for.
    var mayHaveSkips: Bool {
        wasSuspended && observers.values.contains { $0.behavior == .drop || $0.behavior == .coalesce }
    }
    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// The connection; nil while a thread must wait for one.
    /// - Throws: the error of the last attempt, or `.closed`.
    func connection() throws(DistributedError) -> FrameSender? {
        switch phase {
        case .connected(let sender): return sender
        case .closed: throw .closed
        case .connecting(let error?): throw error
        case .connecting(nil), .unused: return nil
        }
    }

    // MARK: Telling the server

    /// The frames that tell the server what has changed; none over another connection than the present one.
    ///
    /// They follow from the state and from the frames before, so that a server that does not read costs no memory.
    mutating func takeControl(of sender: FrameSender) -> [UInt8] {
        guard self.sender === sender, !isTold else { return [] }
        var writer = FrameWriter()
        for number in told.observers.sorted() where observers[number] == nil {
            writer.frame(.unregister) { $0.integer(number) }
        }
        for (number, observer) in observers.sorted(by: { $0.key < $1.key }) where !told.observers.contains(number) {
            writer.register(number, name: observer.name, object: observer.object, behavior: observer.behavior)
        }
        if told.isSuspended != isSuspended { writer.frame(.suspension) { $0.integer(UInt8(isSuspended ? 1 : 0)) } }
        if told.synchronization != asked { writer.frame(.synchronize) { $0.integer(asked) } }
        (told, isTold) = ((isSuspended, Set(observers.keys), asked), true)
        wasSuspended = wasSuspended || isSuspended
        return writer.bytes
    }

    /// Adds an observer, with the next number.
    mutating func add(_ observer: RegisteredObserver) throws(DistributedError) {
        if isClosed { throw .closed }
        guard observers.count < Wire.observerLimit else { throw .tooManyObservers }
        lastObserver += 1
        observers[lastObserver] = observer
    }

    /// - Parameter id: the token's id.
    /// - Returns: the observer, to be released after the lock: that may run foreign code.
    mutating func remove(_ id: UInt64) -> RegisteredObserver? {
        guard let number = observers.first(where: { $0.value.handle.id == id })?.key else { return nil }
        removals += 1
        return observers.removeValue(forKey: number)
    }

    mutating func setSuspended(_ flag: Bool) { (isSuspended, isTold) = (flag, false) }

    /// Asks the server for an answer.
    /// - Returns: the number of the answer, for `isAnswered`.
    mutating func synchronize() throws(DistributedError) -> UInt64 {
        if isClosed { throw .closed }
        (asked, isTold) = (asked + 1, false)
        return asked
    }

    /// - Throws: the error of the last attempt to connect, or `.closed`.
    func isAnswered(_ number: UInt64) throws(DistributedError) -> Bool {
        if !isClosed, answered >= number { return true }
        _ = try connection()
        return false
    }

    mutating func serverAnswered(_ number: UInt64) {
        answered = max(answered, number)
        signalWaiters()
    }

    // MARK: Waiters

    /// Signals the semaphore at the next change. Without a reader there is none to come, so it is signalled at once.
    mutating func addWaiter(_ semaphore: MonotonicSemaphore) {
        if case .unused = phase { return semaphore.signal() }
        waiters.append(semaphore)
    }

    mutating func removeWaiter(_ semaphore: MonotonicSemaphore) { waiters.removeAll { $0 === semaphore } }

    private mutating func signalWaiters() {
        for waiter in waiters { waiter.signal() }
        waiters = []
    }
}
