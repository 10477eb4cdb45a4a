internal import CLinux
internal import DistributedNotifications
internal import Glibc
internal import ThreadedNotifications

/// Serves on the thread that runs it, and on it alone: takes frames in, asks the values what is to be done, and writes frames out.
///
///     accept ─► hello ─► frames ─► ObserverTable ─► SuspensionBuffer ─► LiveQueue ─► write
///
/// A turn: what came is read, at most so many frames of each process are served, and what is to go is written, once to each.
//
// What is touched for every post is not checked for exclusive access at run time: one thread has it, and no closure that is
// called while a property is changed uses that property.
final class ServerLoop {
    let served: ServedSocket
    /// Nil once it does not listen any more.
    var listener: LocalSocket?
    var place: ServerPlace { served.place }
    let limits: ServerLimits
    let report: (ServerEvent) -> Void
    let poll: EventPoll
    let stop: EventDescriptor
    /// Nil: the system watches no more; then nobody tells if the socket is removed.
    let removals: RemovalWatch?
    let userID = geteuid()

    var connections: [Int: ServerConnection] = [:]
    /// Those that have not said hello, in the order in which they connected.
    var newcomers: [ServerConnection] = []
    var lastNumber = 0
    @exclusivity(unchecked) var table = ObserverTable()
    @exclusivity(unchecked) var heldBytes = 0
    @exclusivity(unchecked) var ready: [ServerConnection] = []
    @exclusivity(unchecked) var toWrite: [ServerConnection] = []
    /// Given up to accept, and refuse, one more process when there is no descriptor left.
    var spareDescriptor: Int32

    @exclusivity(unchecked) var now = CLinuxMonotonicNanoseconds()
    let startedAt: UInt64
    var clientsGoneAt: UInt64
    /// The earliest time at which something may be due; nil: never.
    var checkAt: UInt64?
    var idleTimeout: UInt64?
    var stopAt: UInt64?
    var isListening = true
    /// When it accepts again, if it does not.
    var acceptsAt: UInt64?

    var pacing = Pacing()
    @exclusivity(unchecked) var posted = 0
    @exclusivity(unchecked) var delivered = 0
    var dropped = 0
    var discarded = 0

    static let listenerNumber: UInt64 = 0
    static let stopNumber = UInt64.max
    static let removalNumber = UInt64.max - 1

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
        removals = RemovalWatch(served.place)
        spareDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        startedAt = now
        clientsGoneAt = now
        idleTimeout = endsWhenIdle ? limits.idleTimeout.nanoseconds : nil
        guard
            poll.watch(served.listener.descriptor, as: Self.listenerNumber, reading: true, writing: false, isNew: true)
                == 0,
            poll.watch(stop.number, as: Self.stopNumber, reading: true, writing: false, isNew: true) == 0
        else { return nil }
        if let removals {
            _ = poll.watch(removals.descriptor, as: Self.removalNumber, reading: true, writing: false, isNew: true)
        }
    }

    deinit {
        close(spareDescriptor)
    }

    /// Serves until it is stopped or idle for long enough, and everybody has been told.
    func run() {
        report(.started(place: place, processID: getpid()))
        if let idleTimeout { check(at: now &+ idleTimeout) }
        while true {
            if stopAt != nil, isListening { endListening() }
            if let stopAt, connections.isEmpty || now >= stopAt { break }
            turn()
        }
        for connection in connections.values { drop(connection, reason: "the server stopped") }
    }

    func turn() {
        let postedBefore = posted
        var mayAccept = false
        let count = poll.wait(milliseconds: ready.isEmpty ? millisecondsToCheck : 0)
        now = CLinuxMonotonicNanoseconds()
        for index in 0..<count {
            let event = poll[index]
            switch event.number {
            case Self.listenerNumber: mayAccept = true
            case Self.stopNumber:
                // Each time: it may be told more than once, and while it stops already.
                stop.clear()
                beginStop("it was told to")
            case Self.removalNumber:
                removals?.clear()
                // Who comes next starts another server, and would not meet who is connected to this one.
                if !served.isAtItsPlace { beginStop("its socket was removed") }
            default:
                guard let connection = connections[Int(event.number)] else { continue }
                if event.isWritable { mark(connection) }
                if event.isReadable { read(connection) }
            }
        }
        if mayAccept, isListening { accept() }
        serve()
        write()
        if let checkAt, now >= checkAt { checkTimes() }
        if pacing.turnEnded(posts: posted - postedBefore, now: now), ready.isEmpty { CLinuxNap(Int64(Pacing.nap)) }
    }

    var millisecondsToCheck: Int32 {
        guard let checkAt else { return -1 }
        let now = CLinuxMonotonicNanoseconds()
        return checkAt <= now ? 0 : Int32(min((checkAt - now + 999_999) / 1_000_000, 3_600_000))
    }

    func check(at time: UInt64) {
        checkAt = min(checkAt ?? time, time)
    }

    // MARK: Time

    func checkTimes() {
        checkAt = nil
        acceptAgain()
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
                let late = connection.connectedAt &+ limits.helloTimeout.nanoseconds
                if now >= late, !connection.isEnding {
                    end(connection, .refused, "it said nothing for \(limits.helloTimeout)")
                } else if !connection.isEnding {
                    check(at: late)
                }
            }
            if let stallsAt = connection.queue.stallsAt {
                if now >= stallsAt {
                    drop(connection, reason: "it read nothing of what waited for \(limits.progressTimeout)")
                } else {
                    check(at: stallsAt)
                }
            }
        }
        if let idleTimeout, connections.isEmpty, stopAt == nil {
            if now >= clientsGoneAt &+ idleTimeout {
                // Who has just come is served.
                if served.remove(unlessSomebodyWaits: true, limit: .seconds(1)) {
                    beginStop("nobody was connected for \(limits.idleTimeout)")
                } else {
                    clientsGoneAt = now
                }
            }
            check(at: clientsGoneAt &+ idleTimeout)
        }
        if let stopAt { check(at: stopAt) }
        write()
    }

    func beginStop(_ reason: String) {
        guard stopAt == nil else { return }
        report(.stopping(reason: reason))
        now = CLinuxMonotonicNanoseconds()
        let time = now &+ limits.stopTimeout.nanoseconds
        stopAt = time
        check(at: time)
        for connection in connections.values { end(connection, .stopping, "it stops: \(reason)") }
    }

    /// Who connected before the socket was gone is told, too.
    func endListening() {
        isListening = false
        _ = served.remove(unlessSomebodyWaits: false, limit: .seconds(1))
        while let socket = listener?.accept() {
            let bye = Self.bye(.stopping, "it stops")
            _ = bye.withUnsafeBytes { send(socket.descriptor, $0.baseAddress, $0.count, Self.sendFlags) }
        }
        poll.unwatch(served.listener.descriptor)
        listener = nil
    }
}
