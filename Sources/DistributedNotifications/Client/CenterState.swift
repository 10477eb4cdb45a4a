internal import Foundation
internal import ThreadedNotifications

/// What a center knows and has asked for: what a new connection is told, and what the present one was not told yet.
struct CenterState {
    private(set) var phase = Phase.unused
    private(set) var isSuspended = false
    private(set) var observers: [UInt32: Observed] = [:]
    /// The control frames that the present connection was not sent yet. A thread that writes takes them first.
    private var control = ControlQueue()
    private var lastRegistration: UInt32 = 0
    private var lastSynchronization: UInt64 = 0
    private var synchronizations: [UInt64: MonotonicSemaphore] = [:]
    private var waiters: [MonotonicSemaphore] = []

    enum Phase {
        case unused
        /// With why the last attempt failed; nil if none has failed since there was a connection.
        case connecting(DistributedError?)
        case connected(Link)
        case closed
    }

    struct Observed {
        var token: ObserverToken
        var name: String?
        var object: String?
        var behavior: SuspensionBehavior
        /// Called when the center is closed.
        var whenClosed: (@Sendable () -> Void)?
    }

    // MARK: Connection

    /// - Returns: whether a reader must be started.
    mutating func start() -> Bool {
        guard case .unused = phase else { return false }
        phase = .connecting(nil)
        return true
    }

    /// The server answered on a new connection, which was told `suspended` in its hello.
    mutating func connected(_ link: Link, saidSuspended suspended: Bool) -> Bool {
        if isClosed { return false }
        phase = .connected(link)
        control = ControlQueue(suspended: suspended)
        control.suspend(isSuspended)
        for (number, observed) in observers.sorted(by: { $0.key < $1.key }) {
            control.register(number, name: observed.name, object: observed.object, behavior: observed.behavior)
        }
        for number in synchronizations.keys.sorted() { control.synchronize(number) }
        tellWaiters()
        return true
    }

    mutating func failed(_ error: DistributedError) {
        guard case .connecting = phase else { return }
        phase = .connecting(error)
        tellWaiters()
    }

    mutating func lost(_ link: Link) {
        guard self.link === link else { return }
        phase = .connecting(nil)
    }

    /// - Returns: the connection to end, and the observers to remove: not here, where the lock is held.
    mutating func close() -> (link: Link?, observers: [Observed]) {
        let ended = (link, Array(observers.values))
        phase = .closed
        tellWaiters()
        for semaphore in synchronizations.values { semaphore.signal() }
        synchronizations = [:]
        observers = [:]
        return ended
    }

    /// There is no thread to connect.
    mutating func notStarted() {
        if case .connecting = phase { phase = .unused }
        tellWaiters()
    }

    var link: Link? { if case .connected(let link) = phase { link } else { nil } }

    var isClosed: Bool { if case .closed = phase { true } else { false } }

    /// - Returns: what is signalled at the next connection, failure or end.
    mutating func waiter() -> MonotonicSemaphore {
        let semaphore = MonotonicSemaphore()
        if case .connecting = phase { waiters.append(semaphore) }
        return semaphore
    }

    private mutating func tellWaiters() {
        for waiter in waiters { waiter.signal() }
        waiters = []
    }

    // MARK: What is asked for

    mutating func takeControl(of link: Link) -> [UInt8] {
        self.link === link ? control.take() : []
    }

    /// - Returns: false if the center is closed, or the observer removed, already.
    mutating func whenClosed(_ token: UInt64, _ body: @escaping @Sendable () -> Void) -> Bool {
        guard let number = observers.first(where: { $0.value.token.id == token })?.key else { return false }
        observers[number]?.whenClosed = body
        return true
    }

    /// - Returns: the observer's number with the server.
    mutating func add(_ observed: Observed, limit: Int) throws(DistributedError) -> UInt32 {
        if isClosed { throw .closed }
        guard observers.count < limit else { throw .tooManyObservers(limit: limit) }
        lastRegistration += 1
        observers[lastRegistration] = observed
        if link != nil {
            control.register(
                lastRegistration, name: observed.name, object: observed.object, behavior: observed.behavior)
        }
        return lastRegistration
    }

    /// - Returns: the observer, to be let go of where the lock is not held: its handler is foreign code's.
    mutating func remove(_ number: UInt32) -> Observed? {
        guard let observed = observers.removeValue(forKey: number) else { return nil }
        if link != nil { control.unregister(number) }
        return observed
    }

    /// - Returns: whether that is new.
    mutating func setSuspended(_ flag: Bool) -> Bool {
        guard isSuspended != flag else { return false }
        isSuspended = flag
        if link != nil { control.suspend(flag) }
        return true
    }

    /// - Returns: what is signalled at the answer, and at the end of the center.
    mutating func synchronize() throws(DistributedError) -> (number: UInt64, done: MonotonicSemaphore) {
        if isClosed { throw .closed }
        lastSynchronization += 1
        let semaphore = MonotonicSemaphore()
        synchronizations[lastSynchronization] = semaphore
        if link != nil { control.synchronize(lastSynchronization) }
        return (lastSynchronization, semaphore)
    }

    /// It was answered, or is no longer waited for.
    mutating func synchronized(_ number: UInt64) {
        control.forget(synchronization: number)
        synchronizations.removeValue(forKey: number)?.signal()
    }
}
