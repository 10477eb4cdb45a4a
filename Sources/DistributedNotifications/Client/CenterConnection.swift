internal import Foundation
internal import Glibc
internal import Synchronization
internal import ThreadedNotifications

/// A center's connection: state that any thread may change, and one thread that connects and reads.
///
///     post ─► Link ─► server ─► reader ─► Arrival ─► mailbox ─► observer
///
/// `state`'s lock is held for a few instructions only; a link's while the socket is given what it takes at once, and
/// `state`'s may be taken then.
final class CenterConnection: Sendable {
    let place: ServerPlace
    let limits: ClientLimits
    let state = Locked(CenterState())
    /// Makes the reader look: the center was closed, there is room, or the socket took less than it was given.
    let wake: EventDescriptor
    /// Has the observers, whom the reader delivers to by name of their token; nothing else is posted there.
    let observers = ThreadedNotificationCenter()
    let events = ThreadedNotificationCenter()
    let waiting: WaitingBytes
    /// End the sequences of events, by the number of their observer.
    let eventSequences = Locked<[UInt64: @Sendable () -> Void]>([:])
    let pause: AttemptPause
    private let readerID = Atomic<Int32>(0)

    static let eventName = Notification.Name("DistributedCenter.connection")

    /// - Parameter pause: between attempts to connect.
    /// - Returns: nil if the system has no descriptor left.
    init?(place: ServerPlace, limits: ClientLimits, pause: AttemptPause = AttemptPause()) {
        guard let wake = EventDescriptor() else { return nil }
        self.place = place
        self.limits = limits
        self.pause = pause
        self.wake = wake
        waiting = WaitingBytes(limit: limits.waitingBytes, thereIsRoom: wake)
    }

    func start() throws(DistributedError) {
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
            state.withLock { $0.notStarted() }
            throw .serverNotStarted(
                path: place.socketPath, problem: "the system made no thread to read from it (error \(error.code))")
        }
    }

    var isReader: Bool { readerID.load(ordering: .relaxed) == SystemThread.currentKernelID }

    func close() {
        guard !ForkGuard.isCopy else { return }
        let (link, observers) = state.withLock { $0.close() }
        for observed in observers {
            observed.token.cancel()
            observed.whenClosed?()
        }
        let sequences = eventSequences.withLock { ends in
            defer { ends = [:] }
            return Array(ends.values)
        }
        for end in sequences { end() }
        if let link {
            var farewell = FrameWriter()
            farewell.frame(.farewell)
            _ = link.write(farewell.bytes, until: .now + .seconds(1))
        }
        wake.makeReady()
    }

    // MARK: Posting

    /// Writes a frame, when there is a connection.
    func write(_ frame: [UInt8], name: String) throws(DistributedError) {
        let deadline = ContinuousClock.Instant.after(limits.postLimit)
        while true {
            let link = try connected(until: deadline, name: name)
            switch link.write(frame, control: { takeControl(of: link) }, until: deadline) {
            case .written: return
            case .over: state.withLock { $0.lost(link) }
            case .late:
                throw .notPosted(
                    name: name, problem: "the server does not read: it is busy or stopped", after: limits.postLimit)
            }
        }
    }

    private func takeControl(of link: Link) -> [UInt8] {
        state.withLock { $0.takeControl(of: link) }
    }

    private func connected(
        until deadline: ContinuousClock.Instant, name: String
    ) throws(DistributedError) -> Link {
        while true {
            if let link = state.withLock({ $0.link }), !ForkGuard.isCopy { return link }
            try start()
            // One look: what comes after it signals the waiter.
            let (phase, waiter) = state.withLock { ($0.phase, $0.waiter()) }
            switch phase {
            case .connected(let link): return link
            case .closed: throw .closed
            case .connecting(let failure?): throw failure
            case .connecting(nil): break
            // Another thread was to start the reader, and could not.
            case .unused: continue
            }
            guard !isReader else { throw .wouldWaitForItself(what: "posting \(name) before the server is connected") }
            guard waiter.wait(until: deadline) else {
                throw .notPosted(
                    name: name, problem: "no server answered at \(place.socketPath)", after: limits.postLimit)
            }
        }
    }

    /// Writes all control frames that the server was not sent yet, without waiting. The reader writes the frames that
    /// the socket has no room for. If there is no connection, the next one is sent everything.
    func tell() {
        guard let link = state.withLock({ $0.link }) else { return }
        if flush(link) { wake.makeReady() }
    }

    /// - Returns: whether something waits for the socket to be writable.
    func flush(_ link: Link) -> Bool {
        link.flush { takeControl(of: link) }
    }

    func unregister(_ number: UInt32) {
        guard !ForkGuard.isCopy else { return }
        let removed = state.withLock { $0.remove(number) }
        if removed != nil { tell() }
    }

    func setSuspended(_ flag: Bool) {
        guard !ForkGuard.isCopy else { return }
        if state.withLock({ $0.setSuspended(flag) }) { tell() }
    }

    func synchronize(limit: Duration) throws(DistributedError) {
        if state.withLock({ $0.isClosed }) { throw .closed }
        guard !isReader else { throw .wouldWaitForItself(what: "waiting for the server") }
        try start()
        let deadline = ContinuousClock.Instant.after(limit)
        let (number, done) = try state.withLock { state throws(DistributedError) in try state.synchronize() }
        defer { state.withLock { $0.synchronized(number) } }
        tell()
        while true {
            let (phase, waiter) = state.withLock { ($0.phase, $0.waiter()) }
            switch phase {
            case .closed: throw .closed
            case .connecting(let failure?): throw failure
            case .connecting(nil):
                guard waiter.wait(until: deadline) else { break }
                continue
            case .unused:
                try start()
                continue
            case .connected:
                // In between it looks whether there is a connection still.
                guard done.wait(until: min(deadline, .now + .milliseconds(200))) else {
                    if .now >= deadline { break }
                    continue
                }
                if state.withLock({ $0.isClosed }) { throw .closed }
                return
            }
            throw .notAnswered(what: "what was asked of it at \(place.socketPath)", after: limit)
        }
    }

    func post(_ event: ConnectionEvent, of waiting: WaitingBytes? = nil) {
        // Else a recording would show a post that nobody observes.
        guard events.hasObservers else {
            waiting?.giveBack(EventBox.size)
            return
        }
        events.post(name: Self.eventName, object: EventBox(event, of: waiting))
    }
}

/// A connection event as a notification's object.
final class EventBox: Sendable {
    let event: ConnectionEvent
    /// Nil: it is of those that come seldom.
    private let waiting: WaitingBytes?

    /// What an event counts as.
    static let size = 512

    /// - Parameter waiting: from which `size` was taken.
    init(_ event: ConnectionEvent, of waiting: WaitingBytes? = nil) {
        self.event = event
        self.waiting = waiting
    }

    deinit {
        waiting?.giveBack(Self.size)
    }
}
