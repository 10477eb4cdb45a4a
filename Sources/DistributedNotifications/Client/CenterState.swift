internal import Foundation
internal import ThreadedNotifications

/// What a center knows and has asked for: what a new connection is told, and what the present one was not told yet.
struct CenterState {
    private(set) var phase = Phase.unused
    private(set) var isSuspended = false
    private(set) var observers: [UInt32: Observed] = [:]
    /// Frames that the present connection was not told yet, in order. Who writes takes them first.
    private var control = FrameWriter()
    private var lastRegistration: UInt32 = 0
    private var lastSynchronization: UInt64 = 0
    private var synchronizations: [UInt64: MonotonicSemaphore] = [:]
    private var waiters: [MonotonicSemaphore] = []
    /// How many attempts to connect have failed.
    private(set) var failures = 0

    enum Phase {
        case unused
        /// With why the last attempt failed.
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
        control = FrameWriter()
        if suspended != isSuspended { control.suspension(isSuspended) }
        for (number, observed) in observers.sorted(by: { $0.key < $1.key }) {
            control.register(number, observed.name, observed.object, observed.behavior)
        }
        for number in synchronizations.keys.sorted() { control.synchronize(number) }
        tellWaiters()
        return true
    }

    mutating func failed(_ error: DistributedError) {
        guard case .connecting = phase else { return }
        phase = .connecting(error)
        failures += 1
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
        guard self.link === link, !control.bytes.isEmpty else { return [] }
        defer { control = FrameWriter() }
        return control.bytes
    }

    var hasControl: Bool { !control.bytes.isEmpty }

    /// It was not told.
    mutating func giveBack(_ bytes: [UInt8], of link: Link) {
        guard self.link === link else { return }
        var all = FrameWriter()
        all.append(bytes)
        all.append(control.bytes)
        control = all
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
        if link != nil { control.register(lastRegistration, observed.name, observed.object, observed.behavior) }
        return lastRegistration
    }

    /// - Returns: the observer, to be let go of where the lock is not held: its handler is foreign code's.
    mutating func remove(_ number: UInt32) -> Observed? {
        guard let observed = observers.removeValue(forKey: number) else { return nil }
        if link != nil { control.frame(.unregister) { $0.integer(number) } }
        return observed
    }

    /// - Returns: whether that is new.
    mutating func setSuspended(_ flag: Bool) -> Bool {
        guard isSuspended != flag else { return false }
        isSuspended = flag
        if link != nil { control.suspension(flag) }
        return true
    }

    mutating func synchronize() -> (number: UInt64, done: MonotonicSemaphore) {
        lastSynchronization += 1
        let semaphore = MonotonicSemaphore()
        synchronizations[lastSynchronization] = semaphore
        if link != nil { control.synchronize(lastSynchronization) }
        return (lastSynchronization, semaphore)
    }

    mutating func synchronized(_ number: UInt64) {
        synchronizations.removeValue(forKey: number)?.signal()
    }
}

extension FrameWriter {
    mutating func hello(suspended: Bool, name: String) {
        frame(.hello) {
            $0.integer(Wire.magic)
            $0.integer(Wire.version)
            $0.integer(UInt8(suspended ? 1 : 0))
            $0.string(name)
        }
    }

    fileprivate mutating func register(
        _ number: UInt32, _ name: String?, _ object: String?, _ behavior: SuspensionBehavior
    ) {
        frame(.register) {
            $0.integer(number)
            $0.integer(behavior.wireValue)
            $0.integer((name == nil ? 0 : 1) as UInt8 | (object == nil ? 0 : 2))
            if let name { $0.string(name) }
            if let object { $0.string(object) }
        }
    }

    fileprivate mutating func suspension(_ flag: Bool) {
        frame(.suspension) { $0.integer(UInt8(flag ? 1 : 0)) }
    }

    fileprivate mutating func synchronize(_ number: UInt64) {
        frame(.synchronize) { $0.integer(number) }
    }
}
