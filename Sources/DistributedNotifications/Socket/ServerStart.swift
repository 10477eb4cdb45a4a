internal import CEmbeddedServer
internal import CLinux
internal import Glibc

/// How a process gets to its server, and starts it if there is none.
///
///     connect ─► lock ─► connect again ─► remove what an ended server left ─► bind ─► start ─► the server listens ─► unlock
///
/// Of many that begin at once one gets the lock and starts a server; the others connect to it when they get the lock.
/// A connection may end before the server has answered, if it was about to stop: then begin again.
///
/// Threads: any; the calling one waits. Nothing waits longer than the limit.
enum ServerStart {
    /// A connection to the server at a place, which is started if there is none: the running program again, see
    /// CEmbeddedServer.h.
    /// - Throws: `DistributedError.placeNotUsable`, or `.serverNotStarted`.
    static func connect(
        to place: ServerPlace, limit: Duration
    ) throws(DistributedError) -> (socket: LocalSocket, started: Bool) {
        let deadline = ContinuousClock.now + limit
        try place.prepare()
        if let socket = try connectToOwn(place, until: deadline, limit: limit) { return (socket, false) }
        let lock = try PlaceLock.require(place, until: deadline, limit: limit)
        defer { withExtendedLifetime(lock) {} }
        if let socket = try connectToOwn(place, until: deadline, limit: limit) { return (socket, false) }
        try removeStaleSocket(at: place.socketPath)
        try start(at: place, until: deadline, limit: limit)
        guard let socket = try connectToOwn(place, until: deadline, limit: limit) else {
            throw .serverNotStarted(
                path: place.socketPath,
                problem: "it ended, or its socket was removed, as soon as it listened. Start one in another "
                    + "terminal, and see "
                    + "what it says: notify-demo serve")
        }
        return (socket, true)
    }

    /// A connection to the server at a place, if there is one; nothing is made or started.
    /// - Returns: nil if there is none.
    /// - Throws: `DistributedError.placeNotUsable`, or `.serverNotStarted` if there is one that does not accept.
    static func connectIfServed(_ place: ServerPlace, limit: Duration) throws(DistributedError) -> LocalSocket? {
        guard try PlaceDirectory.exists(at: place.directory) else { return nil }
        return try connectToOwn(place, until: ContinuousClock.now + limit, limit: limit)
    }

    /// Removes the socket of a server that has ended. The place is locked, and nobody listens.
    /// - Throws: `DistributedError.placeNotUsable` if what is there is something else: it is left alone.
    static func removeStaleSocket(at path: String) throws(DistributedError) {
        guard try hasSocket(at: path) else { return }
        if unlink(path) != 0, errno != ENOENT {
            throw .placeNotUsable(
                path: path, problem: "what an ended server left there cannot be removed: \(SystemError.text(errno))")
        }
    }

    private static func connectToOwn(
        _ place: ServerPlace, until deadline: ContinuousClock.Instant, limit: Duration
    ) throws(DistributedError) -> LocalSocket? {
        let path = place.socketPath
        switch try LocalSocket.connect(to: path, until: deadline) {
        case .nobodyListens:
            _ = try hasSocket(at: path)
            return nil
        case .queueIsFull:
            throw .serverNotStarted(
                path: path,
                problem: "there is one, but it has accepted nobody for \(limit). It is stopped or hangs: see which "
                    + "with "
                    + "'fuser -v \(path)', and continue or end it")
        case .connected(let socket):
            let user = geteuid()
            guard let peer = socket.peer else {
                throw .placeNotUsable(path: path, problem: "the system does not say whose server it is")
            }
            guard peer.user == user else {
                throw .placeNotUsable(
                    path: path,
                    problem: "process \(peer.process) of user \(peer.user) serves there, and this process runs as "
                        + "user \(user): "
                        + "it is not trusted. Use another directory")
            }
            return socket
        }
    }

    /// - Throws: `DistributedError.placeNotUsable` if there is something else at the path, or another's socket.
    private static func hasSocket(at path: String) throws(DistributedError) -> Bool {
        var file = CLinuxFile()
        guard CLinuxFileAtPath(path, &file) else { return false }
        guard file.isSocket else {
            throw .placeNotUsable(
                path: path,
                problem: "it is no socket, so it is no server's, and is left alone. See what it is, and move it away")
        }
        guard file.owner == geteuid() else {
            throw .placeNotUsable(
                path: path, problem: "it belongs to user \(file.owner), and is left alone. Use another directory")
        }
        return true
    }

    private static func start(
        at place: ServerPlace, until deadline: ContinuousClock.Instant, limit: Duration
    ) throws(DistributedError) {
        let path = place.socketPath
        if let problem = refusal(
            hasOthersRights: CLinuxRunsWithOthersRights(), isLinked: CEmbeddedServerIsLinked(), user: geteuid())
        {
            throw .serverNotStarted(path: path, problem: problem)
        }
        let listener = try LocalSocket.bound(at: path)
        let left = ContinuousClock.now.duration(to: deadline).components
        let milliseconds = left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
        let outcome = CEmbeddedServerStart(
            listener.descriptor, place.directory, "\(getpid())", milliseconds)
        if outcome.isReady { return }
        unlink(path)
        throw .serverNotStarted(path: path, problem: problem(of: outcome, limit: limit))
    }

    /// Why this program must not be started as the server: the copy would not be one.
    static func refusal(hasOthersRights: Bool, isLinked: Bool, user: UInt32) -> String? {
        if hasOthersRights {
            return "this program runs with rights that its user does not have (set-user-id, set-group-id, file "
                + "capabilities, or real and effective ids that differ), and such a program is never made a server. "
                + "Start one as user \(user): notify-demo serve"
        }
        if !isLinked {
            return "this program does not link DistributedNotifications itself, but loads it, so it cannot be the "
                + "server. Start one in another terminal: notify-demo serve"
        }
        return nil
    }

    static func problem(of outcome: CEmbeddedServerOutcome, limit: Duration) -> String {
        if outcome.error != 0 {
            let failed = outcome.failed.map { String(cString: $0) } ?? "starting it"
            return "\(failed) failed: \(SystemError.text(outcome.error)). "
                + "Start one in another terminal: notify-demo serve"
        }
        // The executed file is this program's, so its name says which it is.
        let program = executedFile ?? "this program"
        let said = withUnsafeBytes(of: outcome.said) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let end =
            if !said.isEmpty {
                said
            } else if outcome.isLate {
                "was not ready within \(limit), and was ended"
            } else if outcome.status & 0x7f == 0 {
                "ended at once with status \(outcome.status >> 8 & 0xff)"
            } else {
                "was ended at once by signal \(outcome.status & 0x7f)"
            }
        return "\(program), started as the server, \(end). Start one in another terminal: notify-demo serve"
    }

    private static var executedFile: String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4097) { buffer in
            let count = buffer.baseAddress.map { readlink("/proc/self/exe", $0, 4096) } ?? 0
            guard count > 0, count <= 4096 else { return nil }
            return String(decoding: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
