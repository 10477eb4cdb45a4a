package import DistributedNotifications
internal import Foundation
package import Logging
internal import NATSClient
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import ThreadedNotifications

/// Connects a machine's notification server with those of other machines, over NATS.
///
///     local server ─► receive(post) ─► PublishWindow ─► NATS ─► InboundPosts ─► post() ─► local server
///        of one machine                                            of another machine
///
/// It connects to the local server first, and to NATS while that lasts. What the local server sent and NATS has not
/// taken is acknowledged to nobody, so the local server sends it again to the next connection.
///
/// Threads: one event loop runs the actor and both connections, so what they report is handled as it comes.
package actor Bridge: Service {
    private let options: BridgeOptions
    private let log: Logger
    private let loop: any EventLoop
    private let subjects: [String]
    private let envelope: BridgedPost.Envelope
    /// JetStream acknowledges post number 5 to the subject with this prefix, and `.5`.
    private let acknowledgements = NATSConnection.makeInbox()
    private var memory: BridgeMemory
    private var status = BridgeStatus()
    private var toldStatus: [String: String]?
    private var isStopping = false

    private var local: LocalServer?
    /// Of the present connection to the local server.
    private var decoder = FrameDecoder()
    /// How many of its posts are finished, and how many it was told.
    private var (finished, acknowledged) = (0, 0)
    /// Present while posts can be published.
    private var link: NATSConnection? { didSet { localWritabilityChanged() } }
    /// The connections so far.
    private var (locals, links) = (0, 0)

    private var window = PublishWindow()
    /// What is to be written to NATS when all that was read is handled.
    private var outgoing = ByteBuffer()
    private var lastProgress = NIODeadline.now()

    private var inbound: InboundPosts
    /// `settle` is going to be called.
    private var willSettle = false
    /// How far the stream's messages are posted.
    private var position: StreamPosition?
    /// How many messages the stream's consumer has sent, and when that last changed.
    private var heard = (count: 0, at: NIODeadline.now())

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    /// - Parameter options: with no `problem`.
    /// - Throws: `.pathNotUsable`, if the state cannot be kept or another bridge has it.
    package init(_ options: BridgeOptions, log: Logger) throws(DistributedError) {
        (self.options, self.log) = (options, log)
        loop = MultiThreadedEventLoopGroup.singleton.next()
        memory = try BridgeMemory(directory: options.stateDirectory)
        inbound = InboundPosts(bridge: memory.bridge, names: options.names)
        envelope = BridgedPost.Envelope(bridge: memory.bridge, options.origin)
        subjects = options.names.map { NotificationSubject.of($0, prefix: options.prefix) }
    }

    /// Ends when the service is shut down, after what is under way is published, but at most two seconds later.
    /// - Throws: `DistributedError` or `NATSError`, if the local server or NATS refuses this bridge from the beginning.
    package func run() async throws {
        // A bridge that has just ended may still be known to the server.
        let firstDeadline = NIODeadline.now() + .seconds(2)
        try await withGracefulShutdownHandler {
            var backoff = Backoff()
            while !isStopping {
                do {
                    let reason = try await serve(try await connectLocally())
                    backoff = Backoff()
                    if !isStopping { log.warning("the local server is lost", metadata: ["reason": "\(reason)"]) }
                } catch let error as DistributedError {
                    guard locals > 0 || .now() < firstDeadline && error.code == .serverRefused else { throw error }
                    log.warning("the local server cannot be used", metadata: ["error": "\(error)"])
                }
                if !isStopping { await pause(&backoff) }
            }
        } onGracefulShutdown: {
            Task { await self.stop() }
        }
    }

    private func pause(_ backoff: inout Backoff) async {
        var random = SystemRandomNumberGenerator()
        let time = backoff.next(using: &random)
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: time) }
    }

    private func stop() {
        isStopping = true
        if window.count == 0 || link == nil { return end() }
        loop.scheduleTask(in: .seconds(2)) { self.assumeIsolated { $0.end() } }
    }

    private func end() {
        settle()
        local?.close("the bridge stops")
    }

    // MARK: The local server

    private func connectLocally() async throws -> LocalServer {
        let local = try await LocalServer.connect(to: options.directory, on: loop, of: self)
        (self.local, decoder, finished, acknowledged, toldStatus) = (local, FrameDecoder(), 0, 0, nil)
        window.removeAll()
        var hello = FrameWriter()
        hello.hello(name: "bridge", keptAs: "bridge")
        for (index, name) in options.names.enumerated() {
            hello.register(UInt32(index), name: name, object: nil, behavior: .hold)
        }
        hello.acknowledge(0)
        local.write(ByteBuffer(bytes: hello.bytes))
        try await local.waitForWelcome(path: options.directory.socketPath)
        locals += 1
        position = options.stream.flatMap { memory.position(in: $0) }
        inbound.restart(position: position)
        log.info("is connected to the local server", metadata: ["path": "\(options.directory.socketPath)"])
        return local
    }

    /// Serves until the connection to the local server ends.
    /// - Returns: why.
    private func serve(_ local: LocalServer) async throws -> String {
        let nats = Task { try await keepLink() }
        let timer = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in
            self.assumeIsolated { $0.check() }
        }
        let reason = try await local.ended.get()
        timer.cancel()
        nats.cancel()
        self.local = nil
        await link?.close(timeout: .seconds(1))
        try await nats.value
        return reason
    }

    /// Handles what was read from the local server.
    func receive(_ bytes: ByteBuffer) {
        var rest = bytes.readableBytesView
        do throws(WireError) {
            while !rest.isEmpty {
                let space = decoder.space()
                space.copyBytes(from: rest.prefix(space.count))
                decoder.received(min(space.count, rest.count))
                rest = rest.dropFirst(space.count)
                while let frame = try decoder.next() {
                    switch try ServerInput(frame) {
                    case .notification(let post): receive(post)
                    case .goodbye(let goodbye): local?.close(goodbye.text)
                    case .welcome: local?.welcomed()
                    case .ended, .woken, .gap, .synchronized, .statusPart: break
                    }
                }
            }
        } catch {
            local?.close("it wrote \(error)")
        }
    }

    private func receive(_ post: InboundPost) {
        // One that stops leaves the rest to the next one.
        guard !isStopping, let index = post.observerNumbers.first(where: { $0 < subjects.count }) else { return }
        let number = window.next
        let message = envelope.message(post.payload)
        window.append(PublishWindow.Post(subject: subjects[Int(index)], message: message ?? []))
        if message == nil {
            refuse(number)
        } else if link != nil {
            publish(from: number)
        }
    }

    /// Posts what came from NATS.
    private func post() {
        guard let local, let batch = inbound.take() else { return }
        local.write(batch.frames).whenSuccess { self.assumeIsolated { $0.isPosted(batch) } }
    }

    private func isPosted(_ batch: InboundPosts.Batch) {
        status.in += batch.count
        position = batch.position ?? position
        settleLater()
        guard let link, !batch.answers.isEmpty else { return }
        var bytes = ByteBuffer()
        for subject in batch.answers { bytes.writeMessage(RawSpan(), to: subject) }
        link.write(bytes)
    }

    // MARK: NATS

    /// Keeps a connection to NATS until the task is cancelled.
    /// - Throws: what only another configuration can mend, before the first connection.
    private func keepLink() async throws(NATSError) {
        var (backoff, attempts) = (Backoff(), 0)
        while !Task.isCancelled {
            let server = options.servers[attempts % options.servers.count]
            attempts += 1
            do throws(NATSError) {
                let connection = try await connect(to: server)
                let start = NIODeadline.now()
                // The local server may have been lost meanwhile.
                if Task.isCancelled { await connection.close(timeout: .seconds(1)) }
                let error = await connection.waitForEnd()
                link = nil
                // One that ends at once is no success: it may do so each time.
                if .now() - start > .seconds(5) { backoff = Backoff() }
                throw error
            } catch {
                if links == 0, error.needsConfiguration, attempts >= options.servers.count {
                    local?.close("NATS refuses the bridge")
                    throw error
                }
                status.server = nil
                if !isStopping { note(.link, "\(error)") }
                check()
            }
            if !Task.isCancelled { await pause(&backoff) }
        }
    }

    private func connect(to server: NATSServer) async throws(NATSError) -> NATSConnection {
        var nats = options.nats
        if let file = options.credentialsFile { nats.credentials = try NATSCredentials(file: file) }
        status.problems[.denial] = nil
        let connection = try await NATSConnection.connect(
            to: server, options: nats, group: loop,
            onRefusal: { error in self.assumeIsolated { $0.note(.denial, "\(error)") } },
            onReadComplete: { self.assumeIsolated { $0.natsReadComplete() } })
        do throws(NATSError) {
            if let stream = options.stream {
                try await receive(stream, over: connection)
            } else {
                await connection.subscribe(filter) { message in self.assumeIsolated { $0.inbound.receive(message) } }
                try await connection.ping()
                publish(over: connection)
            }
            links += 1
            log.info("is connected to NATS", metadata: ["server": "\(server)"])
            (status.server, status.problems[.link]) = (server, nil)
            check()
            Task { await ping(connection) }
            return connection
        } catch {
            link = nil
            await connection.close()
            throw error
        }
    }

    /// Measures the round trip, each 20 s. NATS that does not answer for long is lost.
    private func ping(_ connection: NATSConnection) async {
        while true {
            let start = NIODeadline.now()
            do throws(NATSError) {
                // Much may wait to be read before the answer.
                try await connection.ping(timeout: .seconds(60))
            } catch {
                return connection.end(error.description)
            }
            status.roundTrip = Duration(.now() - start)
            try? await Task.sleep(for: .seconds(20))
        }
    }

    private var filter: String {
        subjects.count == 1 ? subjects[0] : NotificationSubject.all(prefix: options.prefix)
    }

    /// Receives what a stream holds, from the last message on that was received.
    private func receive(_ name: String, over connection: NATSConnection) async throws(NATSError) {
        await connection.subscribe("\(acknowledgements).*") { message in
            self.assumeIsolated { $0.acknowledged(message) }
        }
        let stream = try await connection.openStream(
            name, subjects: [NotificationSubject.all(prefix: options.prefix)], maxBytes: BridgeOptions.streamBytes)
        let last = inbound.resume(stream)
        // The consumer may ask for an answer before it is known to be created.
        publish(over: connection)
        let inbox = NATSConnection.makeInbox()
        await connection.subscribe(inbox) { message in
            self.assumeIsolated {
                // Another connection begins after the last message that was received.
                if !$0.inbound.receiveDelivery(message) { connection.end("a message of the stream was lost") }
            }
        }
        try await connection.createConsumer(of: name, deliverTo: inbox, from: last + 1, filter: filter)
    }

    /// Publishes over a new connection from now on.
    private func publish(over connection: NATSConnection) {
        (link, heard.at) = (connection, .now())
        publish(from: window.first)
        flush()
    }

    /// Publishes the posts of the window from a number on, when `flush` is called.
    private func publish(from number: UInt64) {
        for (number, post) in window.unfinished(from: number) {
            let reply = options.stream.map { _ in "\(acknowledgements).\(number)" }
            outgoing.writeMessage(post.message.span.bytes, to: post.subject, reply: reply)
        }
    }

    /// Writes what is to be published. Without a stream it is finished when the kernel has it.
    private func flush() {
        guard let link, outgoing.readableBytes > 0 else { return }
        lastProgress = .now()
        let (first, next) = (window.first, window.next)
        let written = link.write(outgoing)
        outgoing.clear()
        if options.stream == nil {
            written.whenSuccess {
                self.assumeIsolated { bridge in
                    for number in max(first, bridge.window.first)..<max(next, bridge.window.first) {
                        bridge.finish(number)
                    }
                    bridge.removeFinished()
                }
            }
        }
    }

    /// JetStream has stored a post, or refuses it.
    private func acknowledged(_ message: NATSMessage) {
        let digits = message.subject.dropFirst(acknowledgements.utf8.count + 1)
        guard let number = UInt64(String(decoding: digits, as: UTF8.self)) else { return }
        do throws(NATSError) {
            try message.checkIsStored(NotificationSubject.all(prefix: options.prefix))
            finish(number)
            (lastProgress, status.problems[.refusal]) = (.now(), nil)
        } catch {
            note(.refusal, "\(error)")
            // It would keep all that follow from being acknowledged.
            if error.isOfSize { refuse(number) }
        }
    }

    private func note(_ problem: BridgeStatus.Problem, _ reason: String) {
        if status.problems.updateValue(reason, forKey: problem) == reason { return }
        log.warning("\(problem.rawValue)", metadata: ["reason": "\(reason)"])
    }

    private func finish(_ number: UInt64) { if window.finish(number) { status.out += 1 } }

    /// A post will never be published.
    private func refuse(_ number: UInt64) { if window.finish(number) { status.unusable += 1 } }

    // MARK: Turns

    func localReadComplete() {
        flush()
        removeFinished()
    }

    /// NATS writes no more than the local server reads.
    func localWritabilityChanged() { link?.setReading(local?.isWritable ?? false) }

    private func natsReadComplete() {
        post()
        removeFinished()
    }

    private func removeFinished() {
        finished += window.removeFinished()
        if finished >= acknowledged + 1024 || isStopping && window.count == 0 {
            settle()
        } else if finished > acknowledged {
            settleLater()
        }
        if isStopping, window.count == 0 { end() }
    }

    /// What is acknowledged or remembered together costs less.
    private func settleLater() {
        if willSettle { return }
        willSettle = true
        loop.scheduleTask(in: .milliseconds(10)) {
            self.assumeIsolated {
                $0.willSettle = false
                $0.settle()
            }
        }
    }

    /// Tells the local server which posts are published, and writes down how far the stream is posted.
    private func settle() {
        if let local, finished > acknowledged {
            acknowledged = finished
            var frame = FrameWriter()
            frame.acknowledge(UInt64(finished))
            local.write(ByteBuffer(bytes: frame.bytes))
        }
        guard let position, let stream = options.stream, memory.position(in: stream) != position else { return }
        do throws(DistributedError) {
            try memory.setPosition(position, in: stream)
        } catch {
            log.error("the position is lost", metadata: ["error": "\(error)"])
        }
    }

    /// Each second: tells the status, and looks for what does not come.
    private func check() {
        guard let local else { return }
        if let link, options.stream != nil {
            if window.count > 0, lastProgress + .seconds(5) < .now() {
                if status.problems[.refusal] == nil { note(.refusal, "nothing was acknowledged for 5 s") }
                publish(from: window.first)
                flush()
            }
            if inbound.heard != heard.count || !local.isWritable {
                heard = (inbound.heard, .now())
            } else if heard.at + .seconds(15) < .now() {
                // It sends a heartbeat each 5 s.
                log.warning("the stream's consumer is silent: connects again")
                link.end("the stream's consumer is silent")
            }
        }
        status.pending = window.count
        let details = status.details(inbound)
        if details == toldStatus { return }
        toldStatus = details
        var frame = FrameWriter()
        // Details are small.
        try? frame.details(details)
        local.write(ByteBuffer(bytes: frame.bytes))
    }
}

extension NATSError {
    /// Whether the stream has a limit for the size of a message, and this one is larger.
    fileprivate var isOfSize: Bool { number == 10054 }
}
