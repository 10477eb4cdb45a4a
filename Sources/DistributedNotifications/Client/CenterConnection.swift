internal import Foundation
internal import Glibc
internal import Synchronization
internal import ThreadedNotifications

/// A center's connection: state that any thread may change, and one thread that connects and reads.
///
///     post ─► Link ─► server ─► reader ─► Arrival ─► mailbox ─► observer
///
/// `state`'s lock is held for a few instructions only; a link's while it is written to, and `state`'s may be taken then.
final class CenterConnection: Sendable {
    let place: ServerPlace
    let limits: ClientLimits
    let state = Locked(CenterState())
    /// Makes the reader look: it is to close, to try again, or there is room.
    let wake: EventDescriptor
    /// Has the observers, whom the reader delivers to by name of their token; nothing else is posted there.
    let observers = ThreadedNotificationCenter()
    let events = ThreadedNotificationCenter()
    let waiting: WaitingBytes
    /// End the sequences of events.
    let eventSequences = Locked<[@Sendable () -> Void]>([])
    private let readerID = Atomic<Int32>(0)

    static let eventName = Notification.Name("DistributedCenter.connection")

    /// - Returns: nil if the system has no descriptor left.
    init?(place: ServerPlace, limits: ClientLimits) {
        guard let wake = EventDescriptor() else { return nil }
        self.place = place
        self.limits = limits
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
            defer { ends = [] }
            return ends
        }
        for end in sequences { end() }
        if let link {
            var farewell = FrameWriter()
            farewell.frame(.farewell)
            _ = link.write(farewell.bytes, first: { [] }, until: .now + .seconds(1))
        }
        wake.makeReady()
    }

    // MARK: Posting

    /// Writes a frame, when there is a connection.
    func write(_ frame: [UInt8], name: String) throws(DistributedError) {
        let deadline = ContinuousClock.Instant.after(limits.postLimit)
        while true {
            let link = try connected(until: deadline, name: name)
            switch link.write(frame, first: { takeControl(of: link) }, until: deadline) {
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
        if let link = state.withLock({ $0.link }), !ForkGuard.isCopy { return link }
        try start()
        let failuresBefore = state.withLock { $0.failures }
        while true {
            let (phase, failures, waiter) = state.withLock { ($0.phase, $0.failures, $0.waiter()) }
            switch phase {
            case .connected(let link): return link
            case .closed: throw .closed
            case .connecting(let failure?) where failures != failuresBefore: throw failure
            case .connecting: break
            // Another thread was to start the reader, and could not.
            case .unused:
                try start()
                continue
            }
            guard !isReader else { throw .wouldWaitForItself(what: "posting \(name) before the server is connected") }
            // Not to wait for the time of the next attempt.
            wake.makeReady()
            guard waiter.wait(until: deadline) else {
                throw .notPosted(
                    name: name, problem: "no server answered at \(place.socketPath)", after: limits.postLimit)
            }
        }
    }

    /// Tells the server what it was not told yet; if there is no connection, the next one is told everything.
    func tell() {
        guard let link = state.withLock({ $0.link }) else { return }
        let outcome = link.write([], first: { takeControl(of: link) }, until: .after(limits.postLimit))
        // Who writes next may be nobody: only a new connection is sure to be told.
        if case .late = outcome, state.withLock({ $0.hasControl }) { link.shutDown() }
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
        try start()
        guard !isReader else { throw .wouldWaitForItself(what: "waiting for the server") }
        let deadline = ContinuousClock.Instant.after(limit)
        let failuresBefore = state.withLock { $0.failures }
        let (number, done) = state.withLock { $0.synchronize() }
        wake.makeReady()
        if let link = state.withLock({ $0.link }) {
            // If it is late, and the server is told nothing, it is told the same with what is written next.
            _ = link.write(
                [], first: { takeControl(of: link) },
                giveBack: { [self] given in state.withLock { $0.giveBack(given, of: link) } },
                until: deadline)
        }
        defer { state.withLock { $0.synchronized(number) } }
        while true {
            let waiter = state.withLock { state in
                if case .connecting = state.phase { state.waiter() } else { nil as MonotonicSemaphore? }
            }
            if let waiter {
                guard waiter.wait(until: deadline) else { break }
                let (phase, failures) = state.withLock { ($0.phase, $0.failures) }
                if case .connecting(let failure?) = phase, failures != failuresBefore { throw failure }
                continue
            }
            guard done.wait(until: min(deadline, .now + .milliseconds(200))) else {
                if .now >= deadline { break }
                continue
            }
            if state.withLock({ $0.isClosed }) { throw .closed }
            return
        }
        throw .notAnswered(what: "what was asked of it at \(place.socketPath)", after: limit)
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
