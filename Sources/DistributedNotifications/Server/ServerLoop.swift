internal import CLinux
internal import Glibc
internal import ThreadedNotifications

/// Serves on the thread that runs it, and on it alone: takes frames in, asks the values what is to be done, and writes frames out.
///
///     accept ─► hello ─► frames ─► ObserverTable ─► SuspensionBuffer ─► LiveQueue ─► write
///
/// A turn: what came is read, at most so many frames of each process are served, and what is to go is written, once to each.
final class ServerLoop {
    private let served: ServedSocket
    /// Nil once it does not listen any more.
    private var listener: LocalSocket?
    private var place: ServerPlace { served.place }
    private let limits: ServerLimits
    private let report: (ServerEvent) -> Void
    private let poll: EventPoll
    private let stop: EventDescriptor
    private let userID = geteuid()

    private var connections: [Int: ServerConnection] = [:]
    private var withoutHello = 0
    private var lastNumber = 0
    @exclusivity(unchecked) private var table = ObserverTable()
    @exclusivity(unchecked) private var heldBytes = 0
    @exclusivity(unchecked) private var ready: [ServerConnection] = []
    @exclusivity(unchecked) private var toWrite: [ServerConnection] = []
    /// Given up to accept, and refuse, one more process when there is no descriptor left.
    private var spareDescriptor: Int32

    @exclusivity(unchecked) private var now = CLinuxMonotonicNanoseconds()
    private let startedAt: UInt64
    private var clientsGoneAt: UInt64
    /// The earliest time at which something may be due; nil: never.
    private var checkAt: UInt64?
    private var idleLimit: UInt64?
    private var stopAt: UInt64?
    private var isListening = true
    private var isAccepting = true
    private var acceptsAt: UInt64?

    private var pacing = Pacing()
    private var turnsUnwritten = 0
    @exclusivity(unchecked) private var posted = 0
    @exclusivity(unchecked) private var delivered = 0
    private var dropped = 0
    private var discarded = 0

    private static let turnsBeforeWriting = 3
    private static let listenerNumber: UInt64 = 0
    private static let stopNumber = UInt64.max

    /// - Returns: nil if the system has no descriptor left.
    init?(
        _ served: ServedSocket, limits: ServerLimits, endsWhenIdle: Bool, stop: EventDescriptor,
        report: @escaping (ServerEvent) -> Void
    ) {
        guard let poll = EventPoll() else { return nil }
        self.served = served
        listener = served.listener
        self.limits = limits.usable
        self.report = report
        self.poll = poll
        self.stop = stop
        spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        startedAt = now
        clientsGoneAt = now
        idleLimit = endsWhenIdle ? limits.idleLimit.nanoseconds : nil
        guard
            poll.watch(served.listener.descriptor, as: Self.listenerNumber, reading: true, writing: false, isNew: true)
                == 0,
            poll.watch(stop.number, as: Self.stopNumber, reading: true, writing: false, isNew: true) == 0
        else { return nil }
    }

    deinit {
        close(spareDescriptor)
    }

    /// Serves until it is stopped or idle for long enough, and everybody has been told.
    func run() {
        report(.started(place: place, processID: getpid()))
        if let idleLimit { check(at: now &+ idleLimit) }
        while true {
            if stopAt != nil, isListening { endListening() }
            if let stopAt, connections.isEmpty || now >= stopAt { break }
            turn()
        }
        for connection in connections.values { drop(connection, reason: "the server stopped") }
    }

    private func turn() {
        let postedBefore = posted
        var mayAccept = false
        let count = poll.wait(milliseconds: ready.isEmpty ? millisecondsToCheck : 0)
        now = CLinuxMonotonicNanoseconds()
        for index in 0..<count {
            let event = poll[index]
            switch event.number {
            case Self.listenerNumber: mayAccept = true
            case Self.stopNumber: beginStop("it was told to")
            default:
                guard let connection = connections[Int(event.number)] else { continue }
                if event.isWritable { mark(connection) }
                if event.isReadable { read(connection) }
            }
        }
        if mayAccept, isListening { accept() }
        serve()
        // More of what came already is served first: then there is one write for both.
        if ready.isEmpty || turnsUnwritten == Self.turnsBeforeWriting {
            turnsUnwritten = 0
            write()
        } else {
            turnsUnwritten += 1
        }
        if let checkAt, now >= checkAt { checkTimes() }
        if pacing.turnEnded(posts: posted - postedBefore, now: now), ready.isEmpty { CLinuxNap(Int64(Pacing.nap)) }
    }

    private var millisecondsToCheck: Int32 {
        guard let checkAt else { return -1 }
        let now = CLinuxMonotonicNanoseconds()
        return checkAt <= now ? 0 : Int32(min((checkAt - now + 999_999) / 1_000_000, 3_600_000))
    }

    private func check(at time: UInt64) {
        checkAt = min(checkAt ?? time, time)
    }

    // MARK: Coming and going

    private func accept() {
        // More come back in the next turn.
        for _ in 0..<64 {
            // Those who are just connecting are waited for; who comes meanwhile waits to be accepted.
            guard withoutHello < limits.clientsBeforeHello else { return pauseAccepting(until: nil) }
            guard let socket = listener?.accept() else {
                if errno == EMFILE || errno == ENFILE { refuseWithoutDescriptor() }
                return
            }
            admit(socket)
        }
    }

    /// - Parameter time: when to accept again; nil: when somebody has said hello, or gone.
    private func pauseAccepting(until time: UInt64?) {
        guard let listener else { return }
        acceptsAt = time
        isAccepting = false
        _ = poll.watch(listener.descriptor, as: Self.listenerNumber, reading: false, writing: false)
        if let time { check(at: time) }
    }

    private func acceptAgain() {
        guard !isAccepting, let listener else { return }
        if let acceptsAt, now < acceptsAt { return check(at: acceptsAt) }
        isAccepting = true
        acceptsAt = nil
        _ = poll.watch(listener.descriptor, as: Self.listenerNumber, reading: true, writing: false)
    }

    private func admit(_ socket: LocalSocket) {
        guard let peer = socket.peer else { return }
        // Before anything of it is read.
        guard peer.user == userID else {
            return refuse(socket, peer.process, "it belongs to user \(peer.user), and this server to user \(userID)")
        }
        guard connections.count < limits.clients else {
            return refuse(
                socket, peer.process, "\(limits.clients) processes are connected, and no more may be. Let some end")
        }
        lastNumber += 1
        let connection = ServerConnection(
            number: lastNumber, socket: socket, process: peer.process, limits: limits, now: now)
        guard
            poll.watch(socket.descriptor, as: UInt64(connection.number), reading: true, writing: false, isNew: true)
                == 0
        else { return refuse(socket, peer.process, "the server's system has no room left") }
        connections[connection.number] = connection
        withoutHello += 1
        check(at: now &+ limits.helloLimit.nanoseconds)
    }

    private func refuse(_ socket: LocalSocket, _ process: Int32, _ reason: String) {
        let bye = Self.bye(.refused, reason)
        _ = bye.withUnsafeBytes { send(socket.descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
        report(.clientRefused(process: process, reason: reason))
    }

    /// There is no descriptor for one more: it is accepted with the spare one, told, and closed.
    private func refuseWithoutDescriptor() {
        report(.outOfDescriptors)
        close(spareDescriptor)
        if let socket = listener?.accept() {
            refuse(
                socket, socket.peer?.process ?? 0,
                "the server has no descriptor left. Let some processes end, or raise its limit (ulimit -n)")
        }
        spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        // Not at once: whoever comes next is told the same, and the loop has others to serve.
        pauseAccepting(until: now &+ 100_000_000)
    }

    private static func bye(_ reason: ByeReason, _ text: String) -> [UInt8] {
        var writer = FrameWriter()
        writer.frame(.bye) {
            $0.integer(reason.rawValue)
            $0.string(text)
        }
        return writer.bytes
    }

    /// Says why, and closes when that is written.
    private func end(_ connection: ServerConnection, _ reason: ByeReason, _ text: String) {
        guard !connection.isEnding else { return }
        connection.queue.append(Self.bye(reason, text), now: now)
        connection.isEnding = true
        mark(connection)
        if reason == .refused { report(.clientRefused(process: connection.process, reason: text)) }
    }

    /// Forgets a connection and closes it.
    private func drop(_ connection: ServerConnection, reason: String?) {
        guard !connection.isClosed else { return }
        connections[connection.number] = nil
        table.removeClient(connection.number)
        heldBytes -= connection.suspension.byteCount
        connection.close()
        if let name = connection.name {
            report(.clientGone(process: connection.process, name: name, reason: reason))
        } else {
            withoutHello -= 1
            acceptAgain()
        }
        if connections.isEmpty {
            clientsGoneAt = now
            if let idleLimit { check(at: now &+ idleLimit) }
        }
    }

    // MARK: Reading

    private func read(_ connection: ServerConnection) {
        guard !connection.isEnding, !connection.isClosed else {
            // It is closed when what waits is written; if it has gone, that is never.
            if connection.isEnding { discardInput(connection) }
            return
        }
        guard connection.pausedUntil == nil else { return }
        guard !connection.decoder.hasFrame else { return }
        let space = connection.decoder.space()
        let count = recv(connection.descriptor, space.baseAddress, space.count, Int32(MSG_DONTWAIT))
        if count > 0 {
            connection.decoder.received(count)
            makeReady(connection)
        } else if count == 0 {
            drop(connection, reason: connection.decoder.isEmpty ? "it ended" : "it ended within a frame")
        } else if errno != EAGAIN, errno != EINTR {
            drop(connection, reason: "reading failed: \(String(cString: strerror(errno)))")
        }
    }

    private func discardInput(_ connection: ServerConnection) {
        let count = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) {
            recv(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
        }
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { drop(connection, reason: "it ended") }
    }

    private func makeReady(_ connection: ServerConnection) {
        guard !connection.isReady else { return }
        connection.isReady = true
        ready.append(connection)
    }

    /// Serves a turn's frames of each process that has some.
    private func serve() {
        let turns = ready
        ready.removeAll(keepingCapacity: true)
        for connection in turns {
            connection.isReady = false
            guard !connection.isClosed, !connection.isEnding else { continue }
            do throws(WireError) {
                try serveFrames(of: connection)
            } catch {
                end(connection, .refused, "it wrote \(error)")
            }
        }
    }

    private func serveFrames(of connection: ServerConnection) throws(WireError) {
        let posts = connection.posted
        let allowed = connection.bucket.available(now: now)
        defer { connection.bucket.take(connection.posted - posts) }
        for _ in 0..<limits.framesPerTurn {
            if connection.posted - posts >= allowed {
                return pause(connection, until: connection.bucket.time(of: limits.framesPerTurn))
            }
            if connection.queue.waiting > limits.repliesLimit { return pause(connection, until: now &+ 1_000_000) }
            guard let frame = try connection.decoder.next() else {
                if connection.decoder.isEmpty { connection.decoder.release() }
                return
            }
            try serve(frame, of: connection)
            if connection.isEnding || connection.isClosed { return }
        }
        if connection.decoder.hasFrame { makeReady(connection) }
    }

    /// It is not read for a while, so what it writes waits in its own process.
    private func pause(_ connection: ServerConnection, until time: UInt64) {
        connection.pausedUntil = time
        connection.isRead = false
        updatePoll(connection)
        check(at: time)
    }

    private func updatePoll(_ connection: ServerConnection) {
        guard connection.isRead || connection.isWritten else {
            // That it has hung up would be told all the time.
            if connection.isWatched { poll.unwatch(connection.descriptor) }
            connection.isWatched = false
            return
        }
        _ = poll.watch(
            connection.descriptor, as: UInt64(connection.number), reading: connection.isRead,
            writing: connection.isWritten, isNew: !connection.isWatched)
        connection.isWatched = true
    }

    private func serve(_ frame: Frame, of connection: ServerConnection) throws(WireError) {
        guard let kind = FrameKind(rawValue: frame.kind), kind.rawValue < FrameKind.welcome.rawValue else {
            throw .unknown("kind of frame", frame.kind)
        }
        guard (connection.name == nil) == (kind == .hello) else { throw .outOfTurn(kind) }
        if connection.isDeaf, kind != .post, kind != .farewell { return }
        var reader = WireReader(frame.payload)
        switch kind {
        case .post:
            try post(frame.payload, from: connection)
        case .hello:
            try hello(&reader, connection)
        case .register:
            try register(&reader, connection)
        case .unregister:
            let registration = try reader.integer(UInt32.self)
            try reader.end()
            if table.unregister(client: connection.number, registration: registration) {
                heldBytes -= connection.suspension.byteCount
                connection.suspension.unregister(registration)
                connection.queue.unregister(registration)
                heldBytes += connection.suspension.byteCount
            }
        case .suspension:
            let flag = try reader.integer(UInt8.self)
            try reader.end()
            guard flag <= 1 else { throw .unknown("suspension", flag) }
            heldBytes -= connection.suspension.byteCount
            let flush = connection.suspension.setSuspended(flag == 1)
            heldBytes += connection.suspension.byteCount
            hand(flush, to: connection)
        case .synchronize:
            let number = try reader.integer(UInt64.self)
            try reader.end()
            answer(connection, .synchronized) { $0.integer(number) }
        case .status:
            try reader.end()
            guard connection.statusRest == nil else { throw .outOfTurn(kind) }
            answerStatus(connection)
        default:
            try reader.end()
            drop(connection, reason: nil)
        }
    }

    private func hello(_ reader: inout WireReader, _ connection: ServerConnection) throws(WireError) {
        let magic = try reader.integer(UInt32.self)
        guard magic == Wire.magic else { throw .magic(magic) }
        let version = try reader.integer(UInt16.self)
        guard version == Wire.version else { throw .version(version) }
        let suspended = try reader.integer(UInt8.self)
        guard suspended <= 1 else { throw .unknown("suspension", suspended) }
        let name = try reader.string(limit: Wire.processNameLimit)
        try reader.end()
        connection.name = name
        withoutHello -= 1
        acceptAgain()
        _ = connection.suspension.setSuspended(suspended == 1)
        answer(connection, .welcome) {
            $0.integer(Wire.version)
            $0.integer(UInt32(bitPattern: getpid()))
        }
        report(.clientConnected(process: connection.process, name: name))
    }

    private func register(_ reader: inout WireReader, _ connection: ServerConnection) throws(WireError) {
        let number = try reader.integer(UInt32.self)
        let wireBehavior = try reader.integer(UInt8.self)
        guard let behavior = SuspensionBehavior(wireValue: wireBehavior) else {
            throw .unknown("suspension behavior", wireBehavior)
        }
        let flags = try reader.integer(UInt8.self)
        guard flags <= 3 else { throw .unknown("flag of an observer", flags) }
        let name = flags & 1 != 0 ? try reader.stringBytes(limit: Wire.nameLimit) : nil
        let object = flags & 2 != 0 ? try reader.stringBytes(limit: Wire.objectLimit) : nil
        try reader.end()
        if let name {
            guard !name.isEmpty else { throw .emptyName }
            try PostedPayload.check(name)
        }
        if let object { try PostedPayload.check(object) }
        guard table.count(of: connection.number) < limits.observersPerClient else {
            throw .tooManyObservers(limits.observersPerClient)
        }
        let isNew = table.register(
            client: connection.number, registration: number, name: name.map { ByteString($0) },
            object: object.map { ByteString($0) }, behavior: behavior)
        guard isNew else { throw .numberInUse(number) }
    }

    // MARK: Posting

    private func post(_ payload: UnsafeRawBufferPointer, from poster: ServerConnection) throws(WireError) {
        let posted = try PostedPayload(payload)
        if poster.route?.isOf(posted, payload, version: table.version) != true {
            try posted.checkStrings()
            poster.route = ServerConnection.Route(
                head: Array(payload[1..<posted.headCount]), hasObject: posted.object != nil, version: table.version,
                legs: table.matches(name: posted.name, object: posted.object).compactMap { match in
                    connections[match.client].map { ServerConnection.Leg(client: $0, owed: match.owed) }
                })
        }
        poster.posted += 1
        self.posted += 1
        guard let legs = poster.route?.legs else { return }
        // Made for the first process that holds it, and shared with the others.
        var held: HeldNotification?
        for leg in legs {
            let client = leg.client
            guard client.suspension.isSuspended else {
                hand(payload, sender: poster.process, owed: leg.owed, to: client)
                continue
            }
            let bytes = client.suspension.byteCount
            let discardedBefore = client.suspension.discardedCount
            let arrival = client.suspension.arrive(
                HeldNotification.shared(&held, posted, payload, sender: poster.process), owed: leg.owed,
                immediately: posted.isImmediate, spareBytes: limits.heldBytes - heldBytes)
            heldBytes += client.suspension.byteCount - bytes
            discarded += client.suspension.discardedCount - discardedBefore
            hand(arrival.flush, to: client)
            if !arrival.owed.isEmpty {
                hand(payload, sender: poster.process, owed: arrival.owed, to: client)
            }
        }
    }

    private func hand(_ flush: SuspensionBuffer<HeldNotification>.Flush, to client: ServerConnection) {
        if let gap = flush.gap {
            answer(client, .gap) { Self.write(gap, cause: .held, to: &$0) }
        }
        for entry in flush.entries {
            entry.post.payload.withUnsafeBytes {
                hand($0, sender: entry.post.sender, owed: entry.owed, to: client, isHeld: true)
            }
        }
    }

    /// Puts a notification into a process's queue, or counts it as missed.
    @inline(__always)
    private func hand(
        _ payload: UnsafeRawBufferPointer, sender: Int32, owed: [Owed], to client: ServerConnection,
        isHeld: Bool = false
    ) {
        let headSize = Wire.lengthBytes + 7 + 4 * owed.count
        let size = headSize + payload.count
        guard client.queue.admits(size, isHeld: isHeld, now: now) else { return miss(owed, client) }
        client.delivered += 1
        delivered += 1
        client.queue.append(size, now: now) { memory in
            memory.storeBytes(of: UInt32(size - Wire.lengthBytes).littleEndian, as: UInt32.self)
            memory.storeBytes(of: FrameKind.notification.rawValue, toByteOffset: 4, as: UInt8.self)
            memory.storeBytes(of: sender.littleEndian, toByteOffset: 5, as: Int32.self)
            memory.storeBytes(of: UInt16(owed.count).littleEndian, toByteOffset: 9, as: UInt16.self)
            var place = memory + 11
            for one in owed {
                place.storeBytes(of: one.registration.littleEndian, as: UInt32.self)
                place += 4
            }
            if let start = payload.baseAddress { place.copyMemory(from: start, byteCount: payload.count) }
        }
        mark(client)
    }

    private func miss(_ owed: [Owed], _ client: ServerConnection) {
        if client.queue.missedCount == 0 { report(.dropping(process: client.process, name: client.name ?? "")) }
        client.queue.miss(owed)
        client.dropped += 1
        dropped += 1
    }

    private static func write(_ missed: MissedPosts, cause: NotificationGap.Cause, to writer: inout FrameWriter) {
        writer.integer(cause.wireValue)
        writer.integer(UInt64(missed.count))
        // Of more than fit into a frame, so many; the count is of all.
        let registrations = missed.registrations.prefix(4096)
        writer.integer(UInt16(registrations.count))
        for (registration, count) in registrations {
            writer.integer(registration)
            writer.integer(UInt64(count))
        }
    }

    private func answer(_ connection: ServerConnection, _ kind: FrameKind, _ body: (inout FrameWriter) -> Void) {
        var writer = FrameWriter()
        writer.frame(kind, body)
        connection.queue.append(writer.bytes, now: now)
        mark(connection)
    }

    // MARK: Writing

    private static let sendFlags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

    @inline(__always)
    private func mark(_ connection: ServerConnection) {
        guard !connection.isToBeWritten else { return }
        connection.isToBeWritten = true
        toWrite.append(connection)
    }

    private func write() {
        var index = 0
        // To write may close a connection, and nothing else here adds to the list.
        while index < toWrite.count {
            let connection = toWrite[index]
            connection.isToBeWritten = false
            if !connection.isClosed { write(connection) }
            index += 1
        }
        toWrite.removeAll(keepingCapacity: true)
    }

    private func write(_ connection: ServerConnection) {
        if connection.isDeaf { connection.forgetWhatWaits() }
        while !connection.queue.isEmpty {
            let bytes = connection.queue.unwritten
            let count = send(connection.descriptor, bytes.baseAddress, bytes.count, Self.sendFlags)
            guard count >= 0 else {
                if errno == EINTR { continue }
                if errno == EAGAIN { break }
                return becomeDeaf(connection)
            }
            if let missed = connection.queue.wrote(count, now: now) {
                var writer = FrameWriter()
                writer.frame(.gap) { Self.write(missed, cause: .slow, to: &$0) }
                connection.queue.append(writer.bytes, now: now)
                report(.dropped(process: connection.process, name: connection.name ?? "", count: missed.count))
            }
            if connection.queue.isEmpty { continueStatus(connection) }
        }
        if connection.isEnding, connection.queue.isEmpty { return drop(connection, reason: "it was told to go") }
        if let stallsAt = connection.queue.stallsAt { check(at: stallsAt) }
        guard connection.isWritten == connection.queue.isEmpty else { return }
        connection.isWritten = !connection.queue.isEmpty
        updatePoll(connection)
    }

    /// It has ended: nothing more is delivered to it. What it wrote before is served, and it goes when that is read.
    private func becomeDeaf(_ connection: ServerConnection) {
        if connection.isEnding { return drop(connection, reason: "it ended") }
        connection.isDeaf = true
        table.removeClient(connection.number)
        heldBytes -= connection.suspension.byteCount
        connection.forgetWhatWaits()
        connection.isWritten = false
        updatePoll(connection)
    }

    // MARK: Time

    private func checkTimes() {
        checkAt = nil
        if acceptsAt != nil { acceptAgain() }
        for connection in connections.values {
            if let paused = connection.pausedUntil {
                if now >= paused {
                    connection.pausedUntil = nil
                    connection.isRead = true
                    updatePoll(connection)
                    makeReady(connection)
                } else {
                    check(at: paused)
                }
            }
            if connection.name == nil {
                let late = connection.connectedAt &+ limits.helloLimit.nanoseconds
                if now >= late, !connection.isEnding {
                    end(connection, .refused, "it said nothing for \(limits.helloLimit)")
                } else if !connection.isEnding {
                    check(at: late)
                }
            }
            if let stallsAt = connection.queue.stallsAt {
                if now >= stallsAt {
                    drop(connection, reason: "it read nothing of what waited for \(limits.progressLimit)")
                } else {
                    check(at: stallsAt)
                }
            }
        }
        if let idleLimit, connections.isEmpty, stopAt == nil {
            if now >= clientsGoneAt &+ idleLimit {
                // Who has just come is served.
                if served.remove(unlessSomebodyWaits: true, limit: .seconds(1)) {
                    beginStop("nobody was connected for \(limits.idleLimit)")
                } else {
                    clientsGoneAt = now
                }
            }
            check(at: clientsGoneAt &+ idleLimit)
        }
        if let stopAt { check(at: stopAt) }
        write()
    }

    private func beginStop(_ reason: String) {
        guard stopAt == nil else { return }
        stop.clear()
        report(.stopping(reason: reason))
        now = CLinuxMonotonicNanoseconds()
        let time = now &+ limits.stopLimit.nanoseconds
        stopAt = time
        check(at: time)
        for connection in connections.values { end(connection, .stopping, "it stops: \(reason)") }
    }

    /// Who connected before the socket was gone is told, too.
    private func endListening() {
        isListening = false
        _ = served.remove(unlessSomebodyWaits: false, limit: .seconds(1))
        while let socket = listener?.accept() {
            let bye = Self.bye(.stopping, "it stops")
            _ = bye.withUnsafeBytes { send(socket.descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
        }
        poll.unwatch(served.listener.descriptor)
        listener = nil
    }

    // MARK: Status

    private func answerStatus(_ connection: ServerConnection) {
        let server: [String: PropertyListValue] = [
            "processID": .integer(Int64(getpid())), "directory": .string(place.directory),
            "seconds": .real(Double(now - startedAt) / 1e9), "posted": .integer(Int64(posted)),
            "delivered": .integer(Int64(delivered)), "dropped": .integer(Int64(dropped)),
            "discarded": .integer(Int64(discarded)), "heldBytes": .integer(Int64(heldBytes)),
        ]
        answerStatusPart(connection, server, more: true)
        connection.statusRest = connections.keys.filter { $0 != connection.number }.sorted(by: >)
        continueStatus(connection)
    }

    /// As much as may wait; the rest when that is written.
    private func continueStatus(_ connection: ServerConnection) {
        guard connection.statusRest != nil else { return }
        while connection.queue.waiting < limits.softQueueBytes {
            guard let number = connection.statusRest?.popLast() else {
                connection.statusRest = nil
                return answerStatusPart(connection, [:], more: false)
            }
            guard let client = connections[number] else { continue }
            answerStatusPart(connection, status(of: client), more: true)
            for observer in table.registrations(of: client.number) {
                var part: [String: PropertyListValue] = ["behavior": .string(observer.behavior.rawValue)]
                part["name"] = observer.name.map { .string($0.string) }
                part["object"] = observer.object.map { .string($0.string) }
                answerStatusPart(connection, part, more: true)
            }
        }
    }

    private func status(of client: ServerConnection) -> [String: PropertyListValue] {
        [
            "processID": .integer(Int64(client.process)), "name": .string(client.name ?? ""),
            "isSuspended": .boolean(client.suspension.isSuspended), "posted": .integer(Int64(client.posted)),
            "delivered": .integer(Int64(client.delivered)), "dropped": .integer(Int64(client.dropped)),
            "discarded": .integer(Int64(client.suspension.discardedCount)),
            "waitingBytes": .integer(Int64(client.queue.waiting)),
            "heldEntries": .integer(Int64(client.suspension.entryCount)),
            "heldBytes": .integer(Int64(client.suspension.byteCount)),
        ]
    }

    private func answerStatusPart(_ connection: ServerConnection, _ part: [String: PropertyListValue], more: Bool) {
        var writer = FrameWriter()
        writer.frame(.statusPart) {
            $0.integer(UInt8(more ? 1 : 0))
            // Names and numbers are always less than a userInfo may be.
            try? $0.userInfo(part)
        }
        connection.queue.append(writer.bytes, now: now)
        mark(connection)
    }
}

extension NotificationGap.Cause {
    var wireValue: UInt8 {
        switch self {
        case .slow: 1
        case .held: 2
        case .waiting: 3
        case .unreadable: 4
        }
    }

    init?(wireValue: UInt8) {
        guard let cause = Self.allCases.first(where: { $0.wireValue == wireValue }) else { return nil }
        self = cause
    }
}

extension ServerLimits {
    /// When so much waits to be read by a process, its own frames wait: what they ask for is answered into the same queue.
    fileprivate var repliesLimit: Int { hardQueueBytes + heldBytesPerClient + (256 << 10) }
}
