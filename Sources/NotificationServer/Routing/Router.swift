internal import DistributedNotifications
internal import Glibc

/// The clients and their observers: serves frames, and puts what clients are to read into their outbound buffers.
///
///     post ─► ObserverTable ─► Suspension ─► OutboundBuffer
///
/// It calls nothing of the system; the loop reads from clients and writes to those that `takeTouched` returns.
struct Router {
    private let limits: ServerLimits
    private let directory: String
    private let process = getpid()
    private let startedAt: UInt64
    private let log: (String) -> Void
    private var table = ObserverTable()
    private(set) var clients: [Int: ServerClient] = [:]
    /// The kept clients' posts, by their keys.
    private(set) var kept: [String: KeptPosts] = [:]
    /// No kept client is forgotten before.
    private(set) var nextKeptEnd = UInt64.max
    /// Those that have not said hello, in the order in which they connected.
    private(set) var newcomers: [ServerClient] = []
    /// The clients that have something to be written; see `ServerClient.isTouched`.
    private var touched: [ServerClient] = []
    /// The time of this turn.
    var now: UInt64
    private(set) var posted = 0
    private(set) var heldBytes = 0
    /// Of the notifications for clients that have ended.
    private var gone = NotificationCounts()

    init(_ limits: ServerLimits, directory: String, now: UInt64, log: @escaping (String) -> Void) {
        (self.limits, self.directory, self.log, self.now, startedAt) = (limits, directory, log, now, now)
    }

    // MARK: Clients

    mutating func add(_ client: ServerClient) {
        clients[client.number] = client
        newcomers.append(client)
    }

    /// Closes a client.
    mutating func remove(_ client: ServerClient) {
        clients[client.number] = nil
        if client.name == nil { newcomers.removeAll { $0 === client } }
        forget(client)
        client.close()
        gone = gone + client.allCounts
    }

    /// Removes the observers of a client, and all that waits for it. A kept client's stay.
    mutating func forget(_ client: ServerClient) {
        if let kept = client.kept {
            kept.end(now: now)
            nextKeptEnd = min(nextKeptEnd, kept.endsAt ?? .max)
            client.details = [:]
        } else {
            removeObservers(of: client)
        }
        heldBytes -= client.suspension.byteCount
        client.forgetWhatWaits()
    }

    private mutating func removeObservers(of client: ServerClient) {
        table.remove(client.observers.values)
        client.observers = [:]
    }

    mutating func removeEndedKept() {
        for (key, posts) in kept where posts.endsAt.map({ now >= $0 }) == true {
            log("\(posts.owner) did not connect again: \(posts.entryCount) notifications for it are discarded")
            gone = gone + posts.counts
            gone.removed += posts.entryCount
            removeObservers(of: posts.owner)
            posts.owner.kept = nil
            kept[key] = nil
        }
        nextKeptEnd = kept.values.reduce(.max) { min($0, $1.endsAt ?? .max) }
    }

    /// A client to write to; nil at the end of the turn.
    mutating func takeTouched() -> ServerClient? {
        let client = touched.popLast()
        client?.isTouched = false
        return client
    }

    @inline(__always)
    mutating func touch(_ client: ServerClient) {
        guard !client.isTouched else { return }
        client.isTouched = true
        touched.append(client)
    }

    // MARK: Frames

    /// Serves a frame of a client.
    /// - Returns: false if the client takes its leave.
    /// - Throws: what is wrong with the frame; `.refused` if the client has to go for another reason.
    mutating func serve(_ frame: Frame, of client: ServerClient) throws(WireError) -> Bool {
        guard let kind = FrameKind(rawValue: frame.kind), kind.rawValue < FrameKind.welcome.rawValue else {
            throw .unknown("kind of frame", "\(frame.kind)")
        }
        guard (client.name == nil) == (kind == .hello) else { throw .outOfTurn(kind) }
        var reader = WireReader(frame.payload)
        if client.phase == .writeClosed, kind != .farewell, kind != .post { return true }
        switch kind {
        case .post:
            try post(frame.payload, from: client)
            return true
        case .hello: try welcome(client, &reader)
        case .register: try register(&reader, client)
        case .unregister: unregister(try reader.integer(UInt32.self), client)
        case .suspension: setSuspended(try reader.integer("suspension", upTo: 1) == 1, client)
        case .synchronize:
            let number = try reader.integer(UInt64.self)
            answer(client, .synchronized) { $0.integer(number) }
        case .status:
            guard client.statusRest == nil else { throw .outOfTurn(.status) }
            beginStatus(for: client)
        case .acknowledge: try acknowledge(try reader.integer(UInt64.self), client)
        case .details: try setDetails(reader.rest(), client)
        case .farewell: break
        case .welcome, .notification, .gap, .synchronized, .statusPart, .goodbye: throw .outOfTurn(kind)
        }
        try reader.end()
        return kind != .farewell
    }

    private mutating func welcome(_ client: ServerClient, _ reader: inout WireReader) throws(WireError) {
        let magic = try reader.integer(UInt32.self)
        guard magic == Wire.magic else { throw .refused("it wrote bytes of another protocol") }
        // In all versions of the protocol it comes first. The rest of a hello of another version is unknown.
        let version = try reader.integer(UInt16.self)
        guard version == Wire.version else {
            let remedy =
                version < Wire.version
                ? "Build the program with a newer release of the library, and restart it"
                : "End the server, so that the next client starts a newer one: kill \(process)"
            throw .refused(
                "the program speaks version \(version) of the protocol, and the server version \(Wire.version). "
                    + remedy)
        }
        let flags = try reader.integer("flag of a hello", upTo: 3)
        let name = try reader.string(limit: Wire.processNameLimit)
        if flags & 2 != 0 {
            let key = try reader.string(limit: Wire.processNameLimit)
            if let other = clients.values.first(where: { $0.key == key && $0.phase == .open }) {
                throw .refused("process \(other.process) is connected as \(key), and only one may be. End it first")
            }
            client.key = key
        }
        client.name = name
        newcomers.removeAll { $0 === client }
        setSuspended(flags & 1 != 0, client)
        answer(client, .welcome) { _ in }
        log("\(client) connected")
    }

    private mutating func register(_ reader: inout WireReader, _ client: ServerClient) throws(WireError) {
        let number = try reader.integer(UInt32.self)
        let behaviorName = try reader.string(limit: Wire.nameLimit)
        guard let behavior = SuspensionBehavior(rawValue: behaviorName) else {
            throw .unknown("suspension behavior", behaviorName)
        }
        let flags = try reader.integer("flag of an observer", upTo: 3)
        let name = flags & 1 != 0 ? try reader.string(limit: Wire.nameLimit) : nil
        let object = flags & 2 != 0 ? try reader.string(limit: Wire.objectLimit) : nil
        if name?.isEmpty == true { throw .emptyName }
        for text in [name, object] where text?.utf8.contains(0) == true { throw .nul }
        guard client.observers.count < limits.observersPerClient else {
            throw .refused("it has more than \(limits.observersPerClient) observers")
        }
        guard client.observers[number] == nil else {
            throw .refused("it wrote a second registration with the number \(number)")
        }
        client.observers[number] = table.add(
            NameAndObject(name: name, object: object), MatchingObserver(registration: number, behavior: behavior),
            of: client)
    }

    /// Removes an observer. Only notifications that are already in the outbound buffer are still sent to it.
    private mutating func unregister(_ registration: UInt32, _ client: ServerClient) {
        guard let observer = client.observers.removeValue(forKey: registration) else { return }
        table.remove([observer])
        changeHeld(of: client) { $0.unregister(registration) }
    }

    private mutating func setSuspended(_ flag: Bool, _ client: ServerClient) {
        deliverHeld(changeHeld(of: client) { $0.setSuspended(flag) }, to: client)
    }

    /// Puts a frame into a client's buffer, whatever waits there.
    mutating func answer(_ client: ServerClient, _ kind: FrameKind, _ body: (inout FrameWriter) -> Void) {
        var writer = FrameWriter()
        writer.frame(kind, body)
        client.outbound.append(writer.bytes, now: now)
        touch(client)
    }

    // MARK: Posts

    private mutating func post(_ payload: UnsafeRawBufferPointer, from poster: ServerClient) throws(WireError) {
        let post = try PostedPayload(payload)
        try post.checkStrings()
        poster.posted += 1
        poster.bucket.take()
        posted += 1
        let key = NameAndObject(bytes: post.nameAndObject)
        // Made for the first client that holds it, and shared with the others.
        lazy var held = HeldPost(key: key, sender: poster.process, payload: Array(payload))
        for (client, observers) in table.recipients(of: key) {
            if client.key != nil {
                // What another machine's bridge posts stays here: no loop, whatever is connected with what. A client
                // that has not begun leaves the rest to the one before.
                if post.origin == nil, let kept = client.kept { keep(held, in: kept) }
                continue
            }
            client.counts.matched += 1
            guard client.suspension.isSuspended else {
                deliver(payload, sender: poster.process, observers, to: client)
                continue
            }
            let spareBytes = limits.heldBytes - heldBytes
            let delivery = changeHeld(of: client) {
                $0.decide(held, observers: observers, immediately: post.isImmediate, spareBytes: spareBytes)
            }
            deliverHeld(delivery, to: client)
            if !delivery.observers.isEmpty {
                deliver(payload, sender: poster.process, delivery.observers, to: client)
            }
        }
    }

    /// Puts a notification into a client's buffer, or counts it as missed.
    @inline(__always)
    private mutating func deliver(
        _ payload: UnsafeRawBufferPointer, sender: Int32, _ observers: [MatchingObserver], to client: ServerClient,
        isHeld: Bool = false
    ) {
        let size = Self.size(of: payload, observers)
        guard client.outbound.admits(size, isHeld: isHeld, now: now) else { return miss(client) }
        client.counts.delivered += 1
        append(payload, sender: sender, observers, to: client)
    }

    /// Of a notification's frame.
    @inline(__always)
    private static func size(of payload: UnsafeRawBufferPointer, _ observers: [MatchingObserver]) -> Int {
        Wire.lengthBytes + 7 + 4 * observers.count + payload.count
    }

    @inline(__always)
    private mutating func append(
        _ payload: UnsafeRawBufferPointer, sender: Int32, _ observers: [MatchingObserver], to client: ServerClient
    ) {
        let size = Self.size(of: payload, observers)
        client.outbound.append(size, now: now) { memory in
            memory.storeBytes(of: UInt32(size - Wire.lengthBytes).littleEndian, as: UInt32.self)
            memory.storeBytes(of: FrameKind.notification.rawValue, toByteOffset: 4, as: UInt8.self)
            memory.storeBytes(of: sender.littleEndian, toByteOffset: 5, as: Int32.self)
            memory.storeBytes(of: UInt16(observers.count).littleEndian, toByteOffset: 9, as: UInt16.self)
            var position = memory + 11
            for observer in observers {
                position.storeBytes(of: observer.registration.littleEndian, as: UInt32.self)
                position += 4
            }
            if let start = payload.baseAddress { position.copyMemory(from: start, byteCount: payload.count) }
        }
        touch(client)
    }

    private func miss(_ client: ServerClient) {
        if client.outbound.missed == 0 { log("\(client) reads too slowly: notifications for it are dropped") }
        client.outbound.missed += 1
        client.counts.dropped += 1
    }

    private mutating func deliverHeld(_ delivery: Suspension.Delivery, to client: ServerClient) {
        if let gap = delivery.gap { tell(client, gap) }
        for entry in delivery.entries {
            entry.post.payload.withUnsafeBytes {
                deliver($0, sender: entry.post.sender, entry.observers, to: client, isHeld: true)
            }
            if delivery.hasHoles { tell(client, 0) }
        }
    }

    /// Tells a client that so many held posts were discarded; 0: that some are skipped.
    private mutating func tell(_ client: ServerClient, _ gap: Int) {
        // Its few bytes need no room of their own.
        if client.outbound.admits(0, isHeld: true, now: now) {
            answer(client, .gap) { $0.gap(gap, cause: .held) }
        } else {
            // It becomes part of the gap that is sent when the client has read all.
            (client.outbound.missed, client.outbound.hasSkips) = (client.outbound.missed + gap, true)
        }
    }

    private mutating func changeHeld<Value>(of client: ServerClient, _ body: (inout Suspension) -> Value) -> Value {
        let before = client.suspension.byteCount
        defer { heldBytes += client.suspension.byteCount - before }
        return body(&client.suspension)
    }

    // MARK: Kept clients

    private mutating func keep(_ post: HeldPost, in kept: KeptPosts) {
        let discarded = kept.counts.discarded
        kept.keep(post)
        if discarded == 0, kept.counts.discarded > 0 {
            log("\(kept.owner) acknowledges too slowly: the oldest notifications for it are discarded")
        }
        sendKept(to: kept.owner)
    }

    /// The first one begins; each has the number of all that the client has handled since.
    private mutating func acknowledge(_ count: UInt64, _ client: ServerClient) throws(WireError) {
        guard let key = client.key else { throw .outOfTurn(.acknowledge) }
        if let kept = client.kept {
            try kept.acknowledge(count)
        } else {
            guard count == 0 else { throw .unknown("acknowledgement", "\(count)") }
            let posts = kept[key] ?? KeptPosts(client, limits)
            if posts.owner !== client { removeObservers(of: posts.owner) }
            posts.begin(client)
            kept[key] = posts
        }
        sendKept(to: client)
    }

    /// Sends what waits for a kept client, as far as there is room.
    mutating func sendKept(to client: ServerClient) {
        guard let kept = client.kept, client.phase == .open else { return }
        while client.outbound.waiting <= limits.softQueueBytes, let post = kept.next {
            guard let recipient = table.recipients(of: post.key).first(where: { $0.client === client }) else {
                kept.removeNext()
                continue
            }
            kept.sendNext()
            post.payload.withUnsafeBytes {
                append($0, sender: post.sender, recipient.observers, to: client)
            }
        }
    }

    private func setDetails(_ bytes: UnsafeRawBufferPointer, _ client: ServerClient) throws(WireError) {
        // They are a part of the status of the client, whose frame has a limit.
        guard bytes.count <= Wire.detailsLimit, let details = try? PropertyListReader.decode(bytes),
            details.values.allSatisfy({ if case .string = $0 { true } else { false } })
        else { throw .unknown("form of details", "\(bytes.count) bytes") }
        client.details = details
    }

    // MARK: Status

    /// Begins to answer a question about the status. Each part of the answer is a frame of its own, so that it may have
    /// any size: the server's first, then each client's, followed by its observers'. `StatusQuery` reads them.
    private mutating func beginStatus(for client: ServerClient) {
        let kept = kept.values
        let held = clients.values.reduce(kept.reduce(0) { $0 + $1.entryCount }) { $0 + $1.suspension.entryCount }
        let counts = clients.values.reduce(kept.reduce(gone) { $0 + $1.counts }) { $0 + $1.allCounts }
        let server: [String: PropertyListValue] = [
            "process": .integer(Int64(process)), "directory": .string(directory),
            "nanoseconds": .integer(Int64(now - startedAt)),
            "posted": .integer(Int64(posted)), "heldEntries": .integer(Int64(held)),
            "heldBytes": .integer(Int64(kept.reduce(heldBytes) { $0 + $1.byteCount })),
        ]
        answer(client, .statusPart) { $0.statusPart(server.merging(counts.status) { $1 }) }
        let absent = kept.map(\.owner).filter(\.isClosed)
        client.statusRest = (clients.values + absent).filter { $0 !== client }.sorted { $0.number > $1.number }
        continueStatus(for: client)
    }

    /// Writes as many parts as may wait; the rest when those are written.
    mutating func continueStatus(for client: ServerClient) {
        guard client.statusRest != nil else { return }
        while client.outbound.waiting <= limits.softQueueBytes {
            guard let other = client.statusRest?.popLast() else {
                client.statusRest = nil
                return answer(client, .statusPart) { $0.statusPart(nil) }
            }
            answer(client, .statusPart) { $0.statusPart(other.status) }
            for observer in other.observers.values.sorted(by: { $0.order < $1.order }) {
                answer(client, .statusPart) { $0.statusPart(observer.status) }
            }
        }
    }
}

extension WireReader {
    fileprivate mutating func integer(_ what: String, upTo limit: UInt8) throws(WireError) -> UInt8 {
        let value = try integer(UInt8.self)
        guard value <= limit else { throw .unknown(what, "\(value)") }
        return value
    }
}
