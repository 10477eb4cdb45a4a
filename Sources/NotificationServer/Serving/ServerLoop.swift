internal import CLinux
internal import DistributedNotifications
internal import Glibc
internal import ThreadedNotifications

/// The server's turns: each reads what has arrived, serves some frames of each client, and writes to each once.
///
///     poll ─► accept, read ─► Router.serve ─► write ─► deadlines
///
/// It decides nothing about notifications: the router does, and fills the clients' outbound buffers.
/// Threads: one thread owns it. Times are the monotonic clock's, in nanoseconds.
struct ServerLoop: ~Copyable {
    private let served: ServedSocket
    private let limits: ServerLimits
    private let log: (String) -> Void
    private let poll: EventPoll
    private let stop: EventDescriptor
    /// Nil if the system cannot watch another directory. Then the server does not notice that its socket is removed.
    private let removals: RemovalWatch?
    private var router: Router
    private var lastNumber = 0
    /// The clients to serve in this turn.
    private var ready: [ServerClient] = []
    /// Nothing is due for a client before.
    private var nextDeadline = UInt64.max

    private var now: UInt64 { didSet { router.now = now } }
    /// When it accepts again, after there was no descriptor left.
    private var acceptsAt: UInt64?
    private var lastClientLeftAt: UInt64
    private let idleTimeout: UInt64?
    /// The latest time at which the server ends; nil: it goes on.
    private var stopAt: UInt64?

    /// What the poll watches besides the clients, whose numbers begin at 1.
    private static let (listenerNumber, stopNumber, removalNumber) = (UInt64(0), UInt64.max, UInt64.max - 1)

    /// - Parameter limits: usable ones.
    /// - Returns: nil if the system has no descriptor left.
    init?(
        _ served: ServedSocket, limits: ServerLimits, endsWhenIdle: Bool, stop: EventDescriptor,
        log: @escaping (String) -> Void
    ) {
        guard let poll = EventPoll(),
            poll.watch(stop.number, as: Self.stopNumber, isNew: true) == 0,
            poll.watch(served.listener.descriptor, as: Self.listenerNumber, isNew: true) == 0
        else { return nil }
        (self.served, self.limits, self.log, self.poll, self.stop) = (served, limits, log, poll, stop)
        removals = RemovalWatch(served.directory, poll: poll, number: Self.removalNumber)
        now = CLinuxMonotonicNanoseconds()
        lastClientLeftAt = now
        idleTimeout = endsWhenIdle ? limits.idleTimeout.nanoseconds : nil
        router = Router(limits, directory: served.directory.path, now: now, log: log)
    }

    /// Serves until it is stopped, or idle for longer than the timeout, and the clients have been told.
    mutating func run() {
        log("process \(getpid()) serves at \(served.directory.socketPath)")
        while true {
            if let stopAt, router.clients.isEmpty || now >= stopAt { break }
            turn()
        }
        for client in router.clients.values { drop(client, reason: "the server stopped") }
    }

    private mutating func turn() {
        let postedBefore = router.posted
        let count = poll.wait(milliseconds: ready.isEmpty ? millisecondsToDeadline : 0)
        now = CLinuxMonotonicNanoseconds()
        for index in 0..<count {
            let event = poll[index]
            switch event.number {
            case Self.listenerNumber: if stopAt == nil { accept() }
            case Self.stopNumber:
                // Each time: a stop may come more than once, and while the server stops.
                stop.clear()
                beginStop("it was told to")
            case Self.removalNumber:
                removals?.clear()
                // The next client starts another server and could not reach the clients of this one.
                if !served.isAtItsPlace { beginStop("its socket was removed") }
            default:
                guard let client = router.clients[Int(event.number)] else { continue }
                if event.isWritable { router.touch(client) }
                if event.isReadable { read(client) }
            }
        }
        let turns = ready
        ready.removeAll(keepingCapacity: true)
        // One that was served since is no longer ready.
        for client in turns where client.isReady { serve(client) }
        write()
        checkDeadlines()
        write()
        // Waking a sleeping server costs more than serving a post. After several posts it naps, and then serves all
        // that have arrived. A post that comes alone is served immediately.
        if router.posted > postedBefore + 1, ready.isEmpty { CLinuxNap(100_000) }
    }

    // MARK: Connecting

    private mutating func accept() {
        // Further ones are accepted in the next turn.
        for _ in 0..<Wire.connectionsPerTurn {
            guard let socket = served.listener.accept() else {
                guard errno == EMFILE || errno == ENFILE else { return }
                log("no file descriptor is left (ulimit -n): new processes wait until others disconnect")
                acceptsAt = now &+ Wire.descriptorPause.nanoseconds
                return watchListener(false)
            }
            guard let peer = socket.peer, let reason = refusal(of: socket, peer) else { continue }
            socket.sendGoodbye(.refused, reason)
            log("process \(peer.process) was refused: \(reason)")
        }
    }

    private func watchListener(_ flag: Bool) {
        _ = poll.watch(served.listener.descriptor, as: Self.listenerNumber, reading: flag)
    }

    /// Makes a process a client. Its user is checked before anything of it is read.
    /// - Returns: why it is none; nil if it is one.
    private mutating func refusal(of socket: LocalSocket, _ peer: (process: Int32, user: UInt32)) -> String? {
        if peer.user != geteuid() { return "it belongs to user \(peer.user), and this server to user \(geteuid())" }
        while router.newcomers.count >= limits.clientsBeforeHello, let oldest = router.newcomers.first {
            // Its hello may have arrived, and was not read in this turn.
            read(oldest)
            serve(oldest)
            guard oldest === router.newcomers.first else { continue }
            // No reason is written to it: a center that was only slow connects again.
            if oldest.isSilent { log("\(oldest) was refused: it said nothing, and others connected") }
            write(oldest)
            drop(oldest, reason: nil)
        }
        guard router.clients.count < limits.clients else {
            return "\(limits.clients) processes are connected, and no more may be (ServerLimits.clients, ulimit -Hn). "
                + "Let some end"
        }
        lastNumber += 1
        let client = ServerClient(number: lastNumber, socket: socket, process: peer.process, limits: limits, now: now)
        guard client.updatePoll(poll) else { return "the server's system has no room left" }
        router.add(client)
        noteDeadline(of: client)
        return nil
    }

    // MARK: Reading and serving

    private mutating func read(_ client: ServerClient) {
        if let reason = client.read() { return drop(client, reason: reason) }
        if client.isServed, client.pause == nil, client.decoder.hasFrame { makeReady(client) }
    }

    private mutating func makeReady(_ client: ServerClient) {
        guard !client.isReady else { return }
        client.isReady = true
        ready.append(client)
    }

    private mutating func serve(_ client: ServerClient) {
        client.isReady = false
        client.bucket.fill(now: now)
        do throws(WireError) {
            try serveFrames(of: client)
        } catch {
            end(client, .refused, error.isRefusal ? "\(error)" : "it wrote \(error)")
        }
    }

    private mutating func serveFrames(of client: ServerClient) throws(WireError) {
        for _ in 0..<limits.framesPerTurn where client.isServed {
            if client.bucket.isEmpty { return pause(client, .until(client.bucket.time(of: limits.framesPerTurn))) }
            if !client.hasRoomForReplies { return pause(client, .untilRepliesAreWritten) }
            guard let frame = try client.decoder.next() else { return client.decoder.release() }
            guard try router.serve(frame, of: client) else { return drop(client, reason: nil) }
        }
        if client.isServed, client.decoder.hasFrame { makeReady(client) }
    }

    /// - Parameter pause: nil: it is read again.
    private mutating func pause(_ client: ServerClient, _ pause: ServerClient.Pause?) {
        client.pause = pause
        client.updatePoll(poll)
        if pause == nil { makeReady(client) } else { noteDeadline(of: client) }
    }

    // MARK: Writing

    private mutating func write() {
        while let client = router.takeTouched() { write(client) }
    }

    private mutating func write(_ client: ServerClient) {
        if client.phase == .writeClosed { client.forgetWhatWaits() }
        if client.isClosed { return }
        writing: while true {
            switch client.write(now: now) {
            case .done: break writing
            case .ended: return closeWriting(client)
            case .gap(let missed):
                router.answer(client, .gap) { $0.gap(missed, cause: .slow) }
                if client.outbound.hasSkips { router.answer(client, .gap) { $0.gap(0, cause: .held) } }
                client.outbound.hasSkips = false
                log("\(client) has caught up; \(missed) notifications for it were dropped")
            }
        }
        if client.outbound.isEmpty {
            if client.phase == .ending { return drop(client, reason: "it was told to go") }
            // Touches it again if there is more to write.
            router.continueStatus(for: client)
            router.sendKept(to: client)
        }
        if client.pause == .untilRepliesAreWritten, client.hasRoomForReplies { pause(client, nil) }
        client.updatePoll(poll)
        noteDeadline(of: client)
    }

    /// The client has ended. Nothing more is delivered to it; what it wrote before is served, and then it is dropped.
    private mutating func closeWriting(_ client: ServerClient) {
        if client.phase == .ending { return drop(client, reason: "it ended") }
        client.phase = .writeClosed
        router.forget(client)
        if client.pause == .untilRepliesAreWritten { pause(client, nil) } else { client.updatePoll(poll) }
    }

    // MARK: Ending

    /// Tells a client why its connection ends, and closes it when that is written.
    private mutating func end(_ client: ServerClient, _ reason: GoodbyeReason, _ text: String) {
        guard client.isServed else { return }
        client.phase = .ending
        // Its further frames are discarded.
        client.decoder = FrameDecoder()
        router.answer(client, .goodbye) { $0.goodbye(reason, text) }
        if reason == .refused { log("\(client) was refused: \(text)") }
    }

    private mutating func drop(_ client: ServerClient, reason: String?) {
        guard !client.isClosed else { return }
        router.remove(client)
        if client.name != nil { log("\(client) disconnected\(reason.map { ": \($0)" } ?? "")") }
        if router.clients.isEmpty { lastClientLeftAt = now }
    }

    private mutating func beginStop(_ reason: String) {
        guard stopAt == nil else { return }
        log("stopping: \(reason)")
        stopAt = now &+ limits.stopTimeout.nanoseconds
        for client in router.clients.values { end(client, .stopping, "it stops: \(reason)") }
        // The next client starts another server. Processes that connected before are told.
        served.remove(timeout: .seconds(1))
        while let socket = served.listener.accept() { socket.sendGoodbye(.stopping, "it stops: \(reason)") }
        watchListener(false)
        acceptsAt = nil
    }

    // MARK: Deadlines

    /// When the server ends because it is idle.
    private var idleAt: UInt64? {
        guard let idleTimeout, router.clients.isEmpty, router.kept.isEmpty, stopAt == nil else { return nil }
        return lastClientLeftAt &+ idleTimeout
    }

    private var millisecondsToDeadline: Int32 {
        let next = min(nextDeadline, router.nextKeptEnd, acceptsAt ?? .max, idleAt ?? .max, stopAt ?? .max)
        if next == .max { return -1 }
        let now = CLinuxMonotonicNanoseconds()
        return next <= now ? 0 : Int32(min((next - now + 999_999) / 1_000_000, 3_600_000))
    }

    /// A deadline that moves away stays where it is, and is found not to be due; so progress costs nothing.
    private mutating func noteDeadline(of client: ServerClient) {
        nextDeadline = min(nextDeadline, client.nextDeadline)
    }

    private mutating func checkDeadlines() {
        if let acceptsAt, now >= acceptsAt {
            self.acceptsAt = nil
            watchListener(true)
        }
        if now >= nextDeadline {
            nextDeadline = .max
            for client in router.clients.values { check(client) }
        }
        if now >= router.nextKeptEnd { router.removeEndedKept() }
        if let idleAt, now >= idleAt { beginStop("no process was connected for \(limits.idleTimeout)") }
    }

    private mutating func check(_ client: ServerClient) {
        if case .until(let time) = client.pause, now >= time { pause(client, nil) }
        if client.isSilent, now >= client.helloBy {
            end(client, .refused, "it said nothing for \(limits.helloTimeout)")
        }
        if let stallsAt = client.outbound.stallsAt, now >= stallsAt {
            return drop(client, reason: "it read nothing of what waited for \(limits.progressTimeout)")
        }
        noteDeadline(of: client)
    }
}
