internal import CLinux
internal import DistributedNotifications
internal import Glibc
internal import ThreadedNotifications

/// The server's turns: each reads what has arrived, serves some frames of each client, and writes to each once.
///
///     Listener ─► ServerClients ─► ClientRequest ─► Router ─► Outbox
///
/// It decides nothing about notifications; it calls the system, and acts on what the values above return.
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
    private var clients = ServerClients()
    private var router: Router
    private var outbox: Outbox
    /// The clients to serve in this turn.
    private var ready: [ServerClient] = []
    private var pacing = Pacing()
    /// Of the notifications for clients that have ended.
    private var gone = NotificationCounts()

    private var now: UInt64 { didSet { outbox.now = now } }
    private let startedAt: UInt64
    private var lastClientLeftAt: UInt64
    private let idleTimeout: UInt64?
    /// The latest time at which the server ends; nil: it goes on.
    private(set) var stopAt: UInt64?
    /// The earliest time at which something may be due; nil: never.
    private var checkAt: UInt64?

    private static let stopNumber = UInt64.max
    private static let removalNumber = UInt64.max - 1

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
        removals = RemovalWatch(served.directory)
        now = CLinuxMonotonicNanoseconds()
        startedAt = now
        lastClientLeftAt = now
        idleTimeout = endsWhenIdle ? limits.idleTimeout.nanoseconds : nil
        router = Router(heldByteLimit: self.limits.heldBytes)
        outbox = Outbox(now: now, report: report)
        if let removals {
            _ = poll.watch(removals.descriptor, as: Self.removalNumber, reading: true, writing: false, isNew: true)
        }
    }

    /// Serves until it is stopped, or idle for longer than the timeout, and the clients have been told.
    mutating func run() {
        report(.started(directory: served.directory, processID: getpid()))
        if let idleTimeout { check(at: now &+ idleTimeout) }
        while true {
            if stopAt != nil, listener.isListening { endListening() }
            if let stopAt, clients.isEmpty || now >= stopAt { break }
            turn()
        }
        for client in clients.all { drop(client, reason: "the server stopped") }
    }

    mutating func turn() {
        let postedBefore = router.posted
        var mayAccept = false
        let count = poll.wait(milliseconds: ready.isEmpty ? millisecondsToCheck : 0)
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
                guard let client = clients[Int(event.number)] else { continue }
                if event.isWritable { outbox.add(client) }
                if event.isReadable { read(client) }
            }
        }
        if mayAccept { accept() }
        serveReady()
        write()
        if let checkAt, now >= checkAt { checkTimes() }
        if pacing.turnEnded(posts: router.posted - postedBefore, now: now), ready.isEmpty {
            CLinuxNap(Int64(Pacing.nap))
        }
    }

    // MARK: Connecting

    private mutating func accept() {
        // Further ones are accepted in the next turn.
        for _ in 0..<64 {
            switch listener.accept() {
            case .process(let socket, let process): admit(socket, process)
            case .refused(let process, let reason): report(.clientRefused(process: process, reason: reason))
            case .outOfDescriptors:
                report(.outOfDescriptors)
                if case .refused(let process, let reason) = listener.refuseOne() {
                    report(.clientRefused(process: process, reason: reason))
                }
                // Further processes would be refused too, and the clients have to be served.
                listener.pause(until: now &+ 100_000_000, poll: poll)
                return check(at: now &+ 100_000_000)
            case .none: return
            }
        }
    }

    private mutating func admit(_ socket: LocalSocket, _ process: Int32) {
        makeRoomForNewcomer()
        guard clients.count < limits.clients else {
            return refuse(
                socket, process, "\(limits.clients) processes are connected, and no more may be. Let some end")
        }
        let client = ServerClient(
            number: clients.takeNumber(), socket: socket, process: process, limits: limits, now: now)
        guard
            poll.watch(socket.descriptor, as: UInt64(client.number), reading: true, writing: false, isNew: true) == 0
        else { return refuse(socket, process, "the server's system has no room left") }
        clients.add(client)
        check(at: now &+ limits.helloTimeout.nanoseconds)
    }

    private func refuse(_ socket: LocalSocket, _ process: Int32, _ reason: String) {
        if case .refused = listener.refuse(socket, process, reason) {
            report(.clientRefused(process: process, reason: reason))
        }
    }

    /// Ends the oldest connections that have not said hello if there are too many, so that they keep no other process
    /// out.
    private mutating func makeRoomForNewcomer() {
        while clients.newcomers.count >= limits.clientsBeforeHello, let oldest = clients.newcomers.first {
            // Its hello may have arrived, and was not read in this turn.
            read(oldest)
            serve(oldest)
            guard oldest === clients.newcomers.first else { continue }
            report(
                .clientRefused(
                    process: oldest.process,
                    reason: "it said nothing, and \(limits.clientsBeforeHello) connected after it"))
            // No reason is written: a center that was only slow connects again.
            drop(oldest, reason: nil)
        }
    }

    // MARK: Reading

    private mutating func read(_ client: ServerClient) {
        switch client.state.phase {
        case .closed: return
        case .ending: return discardInput(client)
        case .open, .writeClosed: break
        }
        guard client.state.pause == nil, !client.state.decoder.hasFrame else { return }
        let space = client.state.decoder.space()
        let count = recv(client.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            client.state.decoder.received(count)
            makeReady(client)
        } else if count == 0 {
            drop(client, reason: client.state.decoder.isEmpty ? "it ended" : "it ended within a frame")
        } else if errno != EAGAIN, errno != EINTR {
            drop(client, reason: "reading failed: \(String(cString: strerror(errno)))")
        }
    }

    /// It is closed when its buffer is written, which never happens if it has ended.
    private mutating func discardInput(_ client: ServerClient) {
        let count = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) {
            recv(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
        }
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { drop(client, reason: "it ended") }
    }

    private mutating func makeReady(_ client: ServerClient) {
        guard !client.state.isReady else { return }
        client.state.isReady = true
        ready.append(client)
    }

    // MARK: Serving

    private mutating func serveReady() {
        let turns = ready
        ready.removeAll(keepingCapacity: true)
        // One that was served since is no longer ready.
        for client in turns where client.state.isReady { serve(client) }
    }

    private mutating func serve(_ client: ServerClient) {
        client.state.isReady = false
        do throws(WireError) {
            try serveFrames(of: client)
        } catch {
            end(client, .refused, "it wrote \(error)")
        }
    }

    private mutating func serveFrames(of client: ServerClient) throws(WireError) {
        let posts = client.state.posted
        let allowed = client.state.bucket.available(now: now)
        defer { client.state.bucket.take(client.state.posted - posts) }
        for _ in 0..<limits.framesPerTurn {
            guard client.state.phase == .open || client.state.phase == .writeClosed else { return }
            if client.state.posted - posts >= allowed {
                let time = client.state.bucket.time(of: limits.framesPerTurn)
                check(at: time)
                return pause(client, .until(time))
            }
            if !hasRoomForReplies(client) { return pause(client, .untilRepliesAreWritten) }
            guard let frame = try client.state.decoder.next() else {
                if client.state.decoder.isEmpty { client.state.decoder.release() }
                return
            }
            try serve(frame, of: client)
        }
        if !client.isClosed, client.state.decoder.hasFrame { makeReady(client) }
    }

    private mutating func serve(_ frame: Frame, of client: ServerClient) throws(WireError) {
        guard let kind = FrameKind(rawValue: frame.kind), kind.rawValue < FrameKind.welcome.rawValue else {
            throw .unknown("kind of frame", frame.kind)
        }
        guard (client.state.name == nil) == (kind == .hello) else { throw .outOfTurn(kind) }
        if kind == .post {
            return try router.post(frame.payload, from: client, clients: clients, outbox: &outbox)
        }
        if client.state.phase == .writeClosed, kind != .farewell { return }
        try perform(ClientRequest(kind, frame.payload), of: client)
    }

    private mutating func perform(_ request: ClientRequest, of client: ServerClient) throws(WireError) {
        switch request {
        case .hello(let name, let suspended, let versions):
            guard let version = ProtocolVersions.supported.newestCommon(with: versions) else {
                let reason = ProtocolVersions.mismatch(client: versions, server: .supported, serverProcess: getpid())
                return end(client, .refused, reason)
            }
            client.state.name = name
            clients.hasSaidHello(client)
            router.setSuspended(suspended, client, outbox: &outbox)
            outbox.answer(client, .welcome) {
                $0.integer(version)
                $0.integer(UInt32(bitPattern: getpid()))
            }
            report(.clientConnected(process: client.process, name: name))
        case .register(let registered):
            guard router.observerCount(of: client) < limits.observersPerClient else {
                throw .tooManyObservers(limits.observersPerClient)
            }
            guard router.register(registered, of: client) else { throw .numberInUse(registered.registration) }
        case .unregister(let registration): router.unregister(registration, of: client)
        case .setSuspended(let flag): router.setSuspended(flag, client, outbox: &outbox)
        case .synchronize(let number): outbox.answer(client, .synchronized) { $0.integer(number) }
        case .status:
            guard client.state.statusRest == nil else { throw .outOfTurn(.status) }
            beginStatus(client)
        case .farewell: drop(client, reason: nil)
        }
    }

    private func hasRoomForReplies(_ client: ServerClient) -> Bool {
        client.state.outbound.waiting <= limits.repliesLimit
    }

    private func pause(_ client: ServerClient, _ pause: ServerClient.Pause) {
        client.state.pause = pause
        updatePoll(client)
    }

    private mutating func resume(_ client: ServerClient) {
        client.state.pause = nil
        updatePoll(client)
        makeReady(client)
    }

    private func updatePoll(_ client: ServerClient) {
        let isRead = client.state.pause == nil
        guard isRead || client.state.isWritten else {
            // The poll would report without end that it has hung up.
            if client.state.isWatched { poll.unwatch(client.descriptor) }
            client.state.isWatched = false
            return
        }
        _ = poll.watch(
            client.descriptor, as: UInt64(client.number), reading: isRead, writing: client.state.isWritten,
            isNew: !client.state.isWatched)
        client.state.isWatched = true
    }

    // MARK: Status

    private mutating func beginStatus(_ client: ServerClient) {
        let counts = clients.all.reduce(gone) { $0 + $1.counts }
        let held = clients.all.reduce(0) { $0 + $1.state.suspension.entryCount }
        let server: [String: PropertyListValue] = [
            "processID": .integer(Int64(getpid())), "directory": .string(served.directory.path),
            "seconds": .real(Double(now - startedAt) / 1e9), "posted": .integer(Int64(router.posted)),
            "heldEntries": .integer(Int64(held)), "heldBytes": .integer(Int64(router.heldBytes)),
        ].merging(counts.status) { $1 }
        outbox.answer(client, .statusPart) { $0.statusPart(server) }
        client.state.statusRest = clients.numbers.filter { $0 != client.number }.sorted(by: >)
        continueStatus(client)
    }

    /// Writes as many parts as may wait; the rest when those are written.
    private mutating func continueStatus(_ client: ServerClient) {
        guard client.state.statusRest != nil else { return }
        while client.state.outbound.waiting < limits.softQueueBytes {
            guard let number = client.state.statusRest?.popLast() else {
                client.state.statusRest = nil
                return outbox.answer(client, .statusPart) { $0.statusPart(nil) }
            }
            guard let other = clients[number] else { continue }
            outbox.answer(client, .statusPart) { $0.statusPart(other.status) }
            for registered in router.observers(of: other) {
                outbox.answer(client, .statusPart) { $0.statusPart(registered.status) }
            }
        }
    }

    // MARK: Writing

    private mutating func write() {
        while let client = outbox.takeNext() {
            if !client.isClosed { write(client) }
        }
    }

    private mutating func write(_ client: ServerClient) {
        if client.state.phase == .writeClosed { client.forgetWhatWaits() }
        guard outbox.write(to: client) else { return closeWriting(client) }
        if client.state.outbound.isEmpty {
            if client.state.phase == .ending { return drop(client, reason: "it was told to go") }
            // Adds it to the outbox again if there is more to write.
            continueStatus(client)
        }
        if client.state.pause == .untilRepliesAreWritten, hasRoomForReplies(client) { resume(client) }
        if let stallsAt = client.state.outbound.stallsAt { check(at: stallsAt) }
        guard client.state.isWritten == client.state.outbound.isEmpty else { return }
        client.state.isWritten = !client.state.outbound.isEmpty
        updatePoll(client)
    }

    /// The client has ended. Nothing more is delivered to it; what it wrote before is served, and then it is dropped.
    private mutating func closeWriting(_ client: ServerClient) {
        if client.state.phase == .ending { return drop(client, reason: "it ended") }
        client.state.phase = .writeClosed
        router.remove(client)
        client.forgetWhatWaits()
        client.state.isWritten = false
        if client.state.pause == .untilRepliesAreWritten { resume(client) } else { updatePoll(client) }
    }

    // MARK: Ending

    /// Tells a client why its connection ends, and closes it when that is written.
    private mutating func end(_ client: ServerClient, _ reason: GoodbyeReason, _ text: String) {
        guard client.state.phase == .open || client.state.phase == .writeClosed else { return }
        client.state.phase = .ending
        outbox.goodbye(client, reason, text)
        if reason == .refused { report(.clientRefused(process: client.process, reason: text)) }
    }

    private mutating func drop(_ client: ServerClient, reason: String?) {
        guard !client.isClosed else { return }
        clients.remove(client)
        router.remove(client)
        client.close()
        gone = gone + client.counts
        if let name = client.state.name {
            report(.clientGone(process: client.process, name: name, reason: reason))
        }
        if clients.isEmpty {
            lastClientLeftAt = now
            if let idleTimeout { check(at: now &+ idleTimeout) }
        }
    }

    mutating func beginStop(_ reason: String) {
        guard stopAt == nil else { return }
        report(.stopping(reason: reason))
        now = CLinuxMonotonicNanoseconds()
        let time = now &+ limits.stopTimeout.nanoseconds
        stopAt = time
        check(at: time)
        for client in clients.all { end(client, .stopping, "it stops: \(reason)") }
    }

    private mutating func endListening() {
        _ = served.remove(unlessClientWaits: false, timeout: .seconds(1))
        listener.close(poll: poll)
    }

    // MARK: Time

    private var millisecondsToCheck: Int32 {
        guard let checkAt else { return -1 }
        let now = CLinuxMonotonicNanoseconds()
        return checkAt <= now ? 0 : Int32(min((checkAt - now + 999_999) / 1_000_000, 3_600_000))
    }

    private mutating func check(at time: UInt64) {
        checkAt = min(checkAt ?? time, time)
    }

    /// Does what is due, and finds the next time at which something may be.
    private mutating func checkTimes() {
        checkAt = nil
        if let acceptsAt = listener.acceptsAt {
            if now >= acceptsAt { listener.resume(poll: poll) } else { check(at: acceptsAt) }
        }
        for client in clients.all { checkTimes(of: client) }
        if let idleTimeout, clients.isEmpty, stopAt == nil {
            if now >= lastClientLeftAt &+ idleTimeout {
                // A process that has just connected is served.
                if served.remove(unlessClientWaits: true, timeout: .seconds(1)) {
                    beginStop("no process was connected for \(limits.idleTimeout)")
                } else {
                    lastClientLeftAt = now
                }
            }
            check(at: lastClientLeftAt &+ idleTimeout)
        }
        if let stopAt { check(at: stopAt) }
        write()
    }

    private mutating func checkTimes(of client: ServerClient) {
        if case .until(let time) = client.state.pause {
            if now >= time { resume(client) } else { check(at: time) }
        }
        if client.state.name == nil, client.state.phase == .open {
            let late = client.connectedAt &+ limits.helloTimeout.nanoseconds
            if now >= late {
                end(client, .refused, "it said nothing for \(limits.helloTimeout)")
            } else {
                check(at: late)
            }
        }
        if let stallsAt = client.state.outbound.stallsAt {
            if now >= stallsAt {
                drop(client, reason: "it read nothing of what waited for \(limits.progressTimeout)")
            } else {
                check(at: stallsAt)
            }
        }
    }
}
