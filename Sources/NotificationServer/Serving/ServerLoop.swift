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
    private let report: (ServerEvent) -> Void
    private let poll: EventPoll
    private let stop: EventDescriptor
    /// Nil if the system cannot watch another directory. Then the server does not notice that its socket is removed.
    private let removals: RemovalWatch?
    private let listener: Listener
    private var router: Router
    private var lastNumber = 0
    /// The clients to serve in this turn.
    private var ready: [ServerClient] = []
    private var deadlines = Deadlines()
    private var pacing = Pacing()

    private var now: UInt64 { didSet { router.now = now } }
    private var lastClientLeftAt: UInt64
    private let idleTimeout: UInt64?
    /// The latest time at which the server ends; nil: it goes on.
    private(set) var stopAt: UInt64?

    private static let (stopNumber, removalNumber) = (UInt64.max, UInt64.max - 1)

    /// - Returns: nil if the system has no descriptor left.
    init?(
        _ served: ServedSocket, limits: ServerLimits, endsWhenIdle: Bool, stop: EventDescriptor,
        report: @escaping (ServerEvent) -> Void
    ) {
        guard let poll = EventPoll(), let listener = Listener(served.listener, poll: poll),
            poll.watch(stop.number, as: Self.stopNumber, reading: true, writing: false, isNew: true) == 0
        else { return nil }
        self.served = served
        self.limits = limits.usable
        self.report = report
        self.poll = poll
        self.stop = stop
        self.listener = listener
        removals = RemovalWatch(served.directory, poll: poll, number: Self.removalNumber)
        now = CLinuxMonotonicNanoseconds()
        lastClientLeftAt = now
        idleTimeout = endsWhenIdle ? limits.idleTimeout.nanoseconds : nil
        router = Router(self.limits, directory: served.directory.path, now: now, report: report)
    }

    /// Serves until it is stopped, or idle for longer than the timeout, and the clients have been told.
    mutating func run() {
        report(.started(directory: served.directory, processID: getpid()))
        while true {
            if stopAt != nil, listener.isListening {
                _ = served.remove(unlessClientWaits: false, timeout: .seconds(1))
                listener.close()
            }
            if let stopAt, router.clients.isEmpty || now >= stopAt { break }
            turn()
        }
        for client in router.clients.values { drop(client, reason: "the server stopped") }
    }

    mutating func turn() {
        let postedBefore = router.posted
        var mayAccept = false
        let count = poll.wait(milliseconds: ready.isEmpty ? millisecondsToDeadline : 0)
        now = CLinuxMonotonicNanoseconds()
        for index in 0..<count {
            let event = poll[index]
            switch event.number {
            case Listener.pollNumber: mayAccept = true
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
        // One that waits now is told when the listener closes.
        if mayAccept, stopAt == nil { accept() }
        let turns = ready
        ready.removeAll(keepingCapacity: true)
        // One that was served since is no longer ready.
        for client in turns where client.isReady { serve(client) }
        write()
        checkDeadlines()
        write()
        if pacing.turnEnded(posts: router.posted - postedBefore, now: now), ready.isEmpty {
            CLinuxNap(Int64(Pacing.nap))
        }
    }

    // MARK: Connecting

    private mutating func accept() {
        // Further ones are accepted in the next turn.
        for _ in 0..<ServerLimits.connectionsPerTurn {
            guard let (socket, isLast) = listener.accept(now: now) else { return }
            guard let peer = socket.peer else { continue }
            if isLast { report(.outOfDescriptors) }
            guard let reason = refusal(of: socket, peer, isLast: isLast) else { continue }
            Listener.sendGoodbye(.refused, reason, over: socket)
            report(.clientRefused(process: peer.process, reason: reason))
        }
    }

    /// Makes a process a client. Its user is checked before anything of it is read.
    /// - Returns: why it is none; nil if it is one.
    private mutating func refusal(of socket: LocalSocket, _ peer: LocalSocket.Peer, isLast: Bool) -> String? {
        if peer.user != geteuid() { return "it belongs to user \(peer.user), and this server to user \(geteuid())" }
        if isLast {
            return "the server has no descriptor left. Let some processes end, or raise its limit (ulimit -n)"
        }
        while router.newcomers.count >= limits.clientsBeforeHello, let oldest = router.newcomers.first {
            // Its hello may have arrived, and was not read in this turn.
            read(oldest)
            serve(oldest)
            guard oldest === router.newcomers.first else { continue }
            if oldest.phase == .ending {
                write(oldest)
            } else {
                // No reason is written: a center that was only slow connects again.
                let reason = "it said nothing, and \(limits.clientsBeforeHello) connected after it"
                report(.clientRefused(process: oldest.process, reason: reason))
            }
            drop(oldest, reason: nil)
        }
        guard router.clients.count < limits.clients else {
            return "\(limits.clients) processes are connected, and no more may be. Let some end"
        }
        lastNumber += 1
        let client = ServerClient(number: lastNumber, socket: socket, process: peer.process, limits: limits, now: now)
        guard client.updatePoll(poll) else { return "the server's system has no room left" }
        router.add(client)
        noteDeadline(of: client)
        return nil
    }

    // MARK: Reading

    private mutating func read(_ client: ServerClient) {
        if let reason = client.read() { return drop(client, reason: reason) }
        if client.isServed, client.pause == nil, client.decoder.hasFrame { makeReady(client) }
    }

    private mutating func makeReady(_ client: ServerClient) {
        guard !client.isReady else { return }
        client.isReady = true
        ready.append(client)
    }

    // MARK: Serving

    private mutating func serve(_ client: ServerClient) {
        client.isReady = false
        client.bucket.fill(now: now)
        do throws(WireError) {
            try serveFrames(of: client)
        } catch .refused(let reason) {
            end(client, .refused, reason)
        } catch {
            end(client, .refused, "it wrote \(error)")
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
                report(.dropped(process: client.process, name: client.name ?? "", count: missed.count))
            }
        }
        if client.outbound.isEmpty {
            if client.phase == .ending { return drop(client, reason: "it was told to go") }
            // Touches it again if there is more to write.
            router.continueStatus(for: client)
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
        if reason == .refused { report(.clientRefused(process: client.process, reason: text)) }
    }

    private mutating func drop(_ client: ServerClient, reason: String?) {
        guard !client.isClosed else { return }
        deadlines.remove(client.number)
        router.remove(client)
        if let name = client.name { report(.clientGone(process: client.process, name: name, reason: reason)) }
        if router.clients.isEmpty { lastClientLeftAt = now }
    }

    mutating func beginStop(_ reason: String) {
        guard stopAt == nil else { return }
        report(.stopping(reason: reason))
        stopAt = now &+ limits.stopTimeout.nanoseconds
        for client in router.clients.values { end(client, .stopping, "it stops: \(reason)") }
    }

    // MARK: Deadlines

    /// When the server ends because it is idle.
    private var idleAt: UInt64? {
        guard let idleTimeout, router.clients.isEmpty, stopAt == nil else { return nil }
        return lastClientLeftAt &+ idleTimeout
    }

    private var millisecondsToDeadline: Int32 {
        let next = min(deadlines.first ?? .max, listener.acceptsAt ?? .max, idleAt ?? .max, stopAt ?? .max)
        if next == .max { return -1 }
        let now = CLinuxMonotonicNanoseconds()
        return next <= now ? 0 : Int32(min((next - now + 999_999) / 1_000_000, 3_600_000))
    }

    /// A deadline that moves away stays where it is, and is found not to be due; so progress costs nothing.
    private mutating func noteDeadline(of client: ServerClient) {
        if let next = client.nextDeadline { deadlines.note(next, for: client.number) }
    }

    private mutating func checkDeadlines() {
        listener.resume(now: now)
        while let number = deadlines.removeFirst(now: now) {
            if let client = router.clients[number] { check(client) }
        }
        guard let idleAt, now >= idleAt else { return }
        // A process that has just connected is served.
        if served.remove(unlessClientWaits: true, timeout: .seconds(1)) {
            beginStop("no process was connected for \(limits.idleTimeout)")
        } else {
            lastClientLeftAt = now
        }
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
