internal import DistributedNotifications
internal import Foundation
internal import Logging
internal import NATSClient
internal import NIOCore
internal import ThreadedNotifications

/// The thread of a bridge that talks to the local server: it publishes the posts that it is sent, acknowledges those
/// that are published, and posts those that have come from NATS. It alone has the posts under way; everything else
/// reaches it through `BridgeMail`.
struct LocalThread {
    private let options: BridgeOptions
    private let mail: BridgeMail
    private let log: Logger
    private let subjects: [String]
    private let envelope: BridgedPost.Envelope
    private var memory: BridgeMemory
    private var window = PublishWindow()
    /// The batch that was taken from the mail and is not posted yet.
    private var inbound = InboundPosts.Batch()
    /// Answers to flow control that wait for a link: a consumer may ask before its link is told.
    private var answers: [String] = []
    /// The connections to the local server so far.
    private var connections = 0
    /// How many of the present connection's posts are finished, and how many the server was told.
    private var (finished, acknowledged) = (0, 0)
    /// The link over which was published last, and the number of the next post to publish over it.
    private var link: NATSLink?
    private var nextToPublish: UInt64 = 0
    /// When something was last published or finished.
    private var lastProgress = SuspendingClock.now
    /// How many messages the stream's consumer has sent, and when that last changed.
    private var heard = (count: 0, at: SuspendingClock.now)
    private var status = BridgeStatus()
    private var toldStatus: [String: String]?
    private var nextStatus = SuspendingClock.now
    /// When a bridge that stops ends, whatever waits.
    private var stopsAt: SuspendingClock.Instant?

    static let timeout = Duration.seconds(5)
    static let acknowledgedTogether = 256
    static let statusInterval = Duration.seconds(1)
    /// A consumer sends a heartbeat each 5 s.
    static let longestSilence = Duration.seconds(15)
    /// How long a server may know the bridge before this one, after that has ended.
    static let refusalTimeout = Duration.seconds(2)

    init(_ options: BridgeOptions, _ memory: BridgeMemory, _ mail: BridgeMail, _ log: Logger) {
        (self.options, self.memory, self.mail, self.log) = (options, memory, mail, log)
        envelope = BridgedPost.Envelope(bridge: memory.bridge, options.origin)
        subjects = options.names.map { NotificationSubject.of($0, prefix: options.prefix) }
    }

    /// Serves until the bridge stops.
    /// - Throws: why the local server cannot be used, if that is so from the beginning.
    mutating func run() throws(DistributedError) {
        ThreadIdentity.nameCurrentThread("bridge")
        let firstDeadline = SuspendingClock.Instant.after(Self.refusalTimeout)
        var pause = Wire.shortestPause
        while !isOver {
            do throws(DistributedError) {
                var server = try connect()
                pause = Wire.shortestPause
                let reason = serve(&server)
                if !isOver { log.warning("the local server is lost", metadata: ["reason": "\(reason)"]) }
            } catch {
                // A bridge that has just ended may still be known to the server.
                guard connections > 0 || .now < firstDeadline && error.code == .serverRefused else { throw error }
                log.warning("the local server cannot be used", metadata: ["error": "\(error)"])
            }
            wait(for: pause)
            pause = min(pause * 2, Wire.longestPause)
        }
    }

    private var isOver: Bool { stopsAt.map { window.posts.isEmpty || .now >= $0 } ?? false }

    private mutating func wait(for pause: Duration) {
        let deadline = SuspendingClock.Instant.after(pause)
        while .now < deadline {
            var descriptor = pollfd(fd: mail.wake.number, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, deadline.millisecondsFromNow) > 0 { mail.wake.clear() }
            takeMail()
            if isOver { return }
        }
    }

    // MARK: The local server

    private mutating func connect() throws(DistributedError) -> ServerConnection {
        let path = options.directory.socketPath
        var server = ServerConnection(try ServerStart.connect(to: options.directory, timeout: Self.timeout))
        var hello = FrameWriter()
        hello.hello(name: "bridge", keptAs: "bridge")
        for (index, name) in options.names.enumerated() {
            hello.register(UInt32(index), name: name, object: nil, behavior: .hold)
        }
        hello.acknowledge(0)
        let deadline = SuspendingClock.Instant.after(Self.timeout)
        _ = server.sender.send(hello.bytes, until: deadline)
        do throws(WireError) {
            switch try server.next(until: deadline) {
            case .welcome: break
            case .goodbye(let goodbye): throw .refused(goodbye.text)
            case .ended(let reason): throw .refused(reason)
            default: throw .outOfTurn(.welcome)
            }
        } catch {
            throw .serverRefused(path: path, problem: "\(error)")
        }
        (connections, finished, acknowledged, toldStatus) = (connections + 1, 0, 0, nil)
        log.info("is connected to the local server", metadata: ["path": "\(path)"])
        return server
    }

    /// - Returns: why the connection ended.
    private mutating func serve(_ server: inout ServerConnection) -> String {
        let sender = server.sender
        while true {
            do throws(WireError) {
                var input = try server.next(until: nextStatus, wake: mail.wake, flush: { sender.flush { [] } })
                while true {
                    switch input {
                    case .notification(let post): receive(post)
                    case .ended(let reason): return reason
                    case .goodbye(let goodbye): return goodbye.text
                    case .welcome, .woken, .gap, .synchronized, .statusPart: break
                    }
                    guard let more = try server.nextReceived() else { break }
                    input = more
                }
            } catch {
                sender.shutDown()
                return "it wrote \(error)"
            }
            takeMail()
            publish()
            guard post(over: sender), acknowledge(over: sender), tellStatus(over: sender) else {
                sender.shutDown()
                return "it does not read"
            }
            answer()
            if isOver { return "the bridge stops" }
        }
    }

    private mutating func receive(_ post: InboundPost) {
        // One that stops leaves the rest to the next one.
        guard stopsAt == nil, let index = post.observerNumbers.first(where: { $0 < subjects.count }) else { return }
        var entry = PublishWindow.Post(subject: subjects[Int(index)], message: [], connection: connections)
        if let message = envelope.message(post.payload) {
            entry.message = message
        } else {
            status.unusable += 1
            entry.isDone = true
        }
        window.append(entry)
    }

    private mutating func send(_ bytes: [UInt8], over sender: FrameSender) -> Bool {
        if bytes.isEmpty { return true }
        if case .sent = sender.send(bytes, until: .after(Self.timeout)) { return true }
        return false
    }

    private mutating func acknowledge(over sender: FrameSender) -> Bool {
        finished += window.removeFinished(of: connections)
        // Those that are unusable are removed a little later than they are counted.
        status.out = max(0, Int(window.first) - status.unusable)
        // Each acknowledgement wakes the server.
        guard finished >= acknowledged + Self.acknowledgedTogether || window.posts.isEmpty, finished > acknowledged
        else { return true }
        acknowledged = finished
        var writer = FrameWriter()
        writer.acknowledge(UInt64(acknowledged))
        return send(writer.bytes, over: sender)
    }

    // MARK: NATS

    private mutating func takeMail() {
        let (link, published, unusable, refusal, isStopping, heard) = mail.change { mail in
            defer { (mail.finished, mail.unusable, mail.refusal) = ([], [], nil) }
            (status.invalid, status.missing) = (mail.inbound.invalid, mail.inbound.missing)
            status.problem = mail.linkProblem ?? mail.denial ?? mail.inbound.problem
            return (mail.link, mail.finished, mail.unusable, mail.refusal, mail.isStopping, mail.inbound.heard)
        }
        for number in published { window.finish(number) }
        if !published.isEmpty { (lastProgress, status.refusal) = (.now, nil) }
        for number in unusable where window.finish(number) { status.unusable += 1 }
        if let refusal {
            if status.refusal != refusal { log.warning("posts are not taken", metadata: ["reason": "\(refusal)"]) }
            status.refusal = refusal
        }
        if link?.number != self.link?.number {
            (self.link, nextToPublish) = (link, 0)
            (status.link, nextStatus) = (link?.connection, .now)
        }
        if heard != self.heard.count || link == nil { self.heard = (heard, .now) }
        if isStopping, stopsAt == nil { stopsAt = .after(.seconds(2)) }
    }

    /// Publishes what was not published over this link, and everything again if nothing was finished for a while.
    private mutating func publish() {
        guard let link else { return }
        if !window.posts.isEmpty, nextToPublish >= window.next, lastProgress + Self.timeout < .now {
            nextToPublish = 0
            if status.refusal == nil {
                status.refusal = "nothing was acknowledged for \(Self.timeout): what was published is published again"
                log.warning("posts are not acknowledged")
            }
        }
        var (bytes, numbers) = (ByteBuffer(), [UInt64]())
        for (number, post) in window.unfinished(from: nextToPublish) {
            let reply = link.acknowledgements.map { "\($0).\(number)" }
            do throws(NATSError) {
                try link.connection.append(post.message.span.bytes, to: post.subject, reply: reply, into: &bytes)
            } catch {
                status.unusable += 1
                log.warning("a post cannot be published", metadata: ["error": "\(error)"])
                window.finish(number)
            }
            numbers.append(number)
        }
        nextToPublish = window.next
        if numbers.isEmpty { return }
        lastProgress = .now
        let written = link.connection.write(bytes)
        if link.acknowledgements == nil {
            written.whenSuccess { [mail, numbers] in mail.post { $0.finished += numbers } }
        }
    }

    /// Posts a batch that came from NATS.
    private mutating func post(over sender: FrameSender) -> Bool {
        if inbound.isEmpty { inbound = mail.change { $0.inbound.take() } }
        if inbound.isEmpty { return true }
        guard send(inbound.frames, over: sender) else { return false }
        status.in += inbound.count
        if let position = inbound.position, let stream = options.stream {
            do throws(DistributedError) {
                try memory.setPosition(position, in: stream)
            } catch {
                log.error("the position is lost", metadata: ["error": "\(error)"])
            }
        }
        answers += inbound.answers
        inbound = InboundPosts.Batch()
        mail.wakeIfNeeded()
        return true
    }

    private mutating func answer() {
        guard let link else { return }
        var bytes = ByteBuffer()
        for subject in answers { try? link.connection.append(RawSpan(), to: subject, into: &bytes) }
        if !answers.isEmpty { link.connection.write(bytes) }
        answers = []
    }

    private mutating func tellStatus(over sender: FrameSender) -> Bool {
        guard .now >= nextStatus else { return true }
        nextStatus = .after(Self.statusInterval)
        if let link, options.stream != nil, heard.at + Self.longestSilence < .now {
            heard.at = .now
            log.warning("the stream's consumer is silent: connects again")
            Task { await link.connection.close() }
        }
        status.pending = window.posts.count
        let details = status.details
        guard details != toldStatus else { return true }
        toldStatus = details
        var writer = FrameWriter()
        // Details are small.
        try? writer.details(details)
        return send(writer.bytes, over: sender)
    }
}
