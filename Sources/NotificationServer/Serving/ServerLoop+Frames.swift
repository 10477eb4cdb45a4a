internal import CLinux
internal import DistributedNotifications
internal import Glibc

/// What processes write: read, cut into frames, and served in turns.
extension ServerLoop {
    func read(_ connection: ServerConnection) {
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

    func discardInput(_ connection: ServerConnection) {
        let count = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) {
            recv(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
        }
        if count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR) { drop(connection, reason: "it ended") }
    }

    func makeReady(_ connection: ServerConnection) {
        guard !connection.isReady else { return }
        connection.isReady = true
        ready.append(connection)
    }

    /// Serves a turn's frames of each process that has some.
    func serve() {
        let turns = ready
        ready.removeAll(keepingCapacity: true)
        // One that was served since is no longer ready.
        for connection in turns where connection.isReady { serve(connection) }
    }

    func serve(_ connection: ServerConnection) {
        connection.isReady = false
        guard !connection.isClosed, !connection.isEnding else { return }
        do throws(WireError) {
            try serveFrames(of: connection)
        } catch {
            end(connection, .refused, "it wrote \(error)")
        }
    }

    func serveFrames(of connection: ServerConnection) throws(WireError) {
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
    func pause(_ connection: ServerConnection, until time: UInt64) {
        connection.pausedUntil = time
        connection.isRead = false
        updatePoll(connection)
        check(at: time)
    }

    func updatePoll(_ connection: ServerConnection) {
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

    func serve(_ frame: Frame, of connection: ServerConnection) throws(WireError) {
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

    func hello(_ reader: inout WireReader, _ connection: ServerConnection) throws(WireError) {
        let magic = try reader.integer(UInt32.self)
        guard magic == Wire.magic else { throw .magic(magic) }
        // In all versions the newest one that the client speaks comes first. What follows depends on it.
        let newest = try reader.integer(UInt16.self)
        let oldest = newest < ProtocolVersions.supported.oldest ? newest : try reader.integer(UInt16.self)
        let versions = ProtocolVersions(oldest: oldest, newest: newest)
        guard let version = ProtocolVersions.supported.newestCommon(with: versions) else {
            let reason = ProtocolVersions.mismatch(client: versions, server: .supported, serverProcess: getpid())
            return end(connection, .refused, reason)
        }
        let suspended = try reader.integer(UInt8.self)
        guard suspended <= 1 else { throw .unknown("suspension", suspended) }
        let name = try reader.string(limit: Wire.processNameLimit)
        try reader.end()
        connection.name = name
        newcomers.removeAll { $0 === connection }
        _ = connection.suspension.setSuspended(suspended == 1)
        answer(connection, .welcome) {
            $0.integer(version)
            $0.integer(UInt32(bitPattern: getpid()))
        }
        report(.clientConnected(process: connection.process, name: name))
    }

    func register(_ reader: inout WireReader, _ connection: ServerConnection) throws(WireError) {
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
}

extension ServerLimits {
    /// When so much waits to be read by a process, its own frames wait: what they ask for is answered into the same queue.
    var repliesLimit: Int { hardQueueBytes + heldBytesPerClient + (256 << 10) }
}
