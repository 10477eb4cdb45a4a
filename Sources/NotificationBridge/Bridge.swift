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
/// A connection that is lost is made again. Posts that NATS has not taken are not acknowledged, so the local server
/// sends them again over the next connection.
///
/// Threads: one event loop runs the actor and both connections, so their handlers may assume that they are isolated.
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

    private var server: LocalServer?
    /// The same, when it has accepted this bridge.
    private var local: LocalServer?
    /// Of the present connection to the local server.
    private var decoder = FrameDecoder()
    /// How many of its posts are finished, and how many it was told.
    private var (finished, acknowledged) = (0, 0)
    /// Present while posts can be published.
    private var link: NATSConnection? { didSet { localWritabilityChanged() } }
    private var hasLinked = false
    /// Why the bridge ends, if NATS refuses it.
    private var refusal: NATSError?

    private var window = PublishWindow()
    /// Messages that are written to NATS when all input is handled.
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
        position = options.stream.flatMap(memory.position)
        inbound = InboundPosts(bridge: memory.bridge, names: options.names)
        envelope = BridgedPost.Envelope(bridge: memory.bridge, options.origin)
        inbound.restart(position: position)
        subjects = options.names.map { NotificationSubject.of($0, prefix: options.prefix) }
    }

    /// Ends when the service is shut down, after what is under way is published, but at most three seconds later.
    /// - Throws: `DistributedError` or `NATSError`, if the local server or NATS refuses this bridge from the beginning.
    package func run() async throws {
        try await withGracefulShutdownHandler {
            let timer = loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
                self.assumeIsolated { $0.check() }
            }
            defer { timer.cancel() }
            try await keepLocal()
            await link?.close(timeout: .seconds(1))
            if let refusal { throw refusal }
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
        server?.close("the bridge stops")
    }

    // MARK: The local server

    /// Keeps a connection to the local server until the bridge stops.
    /// - Throws: why it cannot be used, if that is so from the beginning.
    private func keepLocal() async throws(DistributedError) {
        // A bridge that has just ended may still be known to the server.
        let firstDeadline = NIODeadline.now() + .seconds(2)
        var (backoff, isFirst) = (Backoff(), true)
        while !isStopping {
            do throws(DistributedError) {
                let server = try await connectLocally()
                // It may still be connecting when the bridge ends, and is not waited for.
                if isFirst { Task { await keepLink() } }
                isFirst = false
                let start = NIODeadline.now()
                let reason = await server.waitForEnd()
                // One that ends at once is no success: it may do so each time.
                if .now() - start > .seconds(5) { backoff = Backoff() }
                lose()
                if !isStopping { log.warning("the local server is lost", metadata: ["reason": "\(reason)"]) }
            } catch {
                if isStopping { return }
                guard !isFirst || .now() < firstDeadline && error.code == .serverRefused else { throw error }
                log.warning("the local server cannot be used", metadata: ["error": "\(error)"])
            }
            if !isStopping { await pause(&backoff) }
        }
    }

    private func connectLocally() async throws(DistributedError) -> LocalServer {
        let server = try await LocalServer.connect(to: options.directory, on: loop, of: self)
        (self.server, decoder, finished, acknowledged, toldStatus) = (server, FrameDecoder(), 0, 0, nil)
        var hello = FrameWriter()
        hello.hello(name: "bridge", keptAs: "bridge")
        for (index, name) in options.names.enumerated() {
            hello.register(UInt32(index), name: name, object: nil, behavior: .hold)
        }
        hello.acknowledge(0)
        server.write(ByteBuffer(bytes: hello.bytes))
        try await server.waitForWelcome(path: options.directory.socketPath)
        log.info("is connected to the local server", metadata: ["path": "\(options.directory.socketPath)"])
        localWritabilityChanged()
        post()
        check()
        // It may have been told to while it connected.
        if isStopping { end() }
        return server
    }

    /// Forgets the posts of a local server that is lost: the server sends those that are not acknowledged again.
    private func lose() {
        flush()
        local = nil
        localWritabilityChanged()
        settle()
        window.removeAll()
        (outgoing, status.problems[.refusal]) = (ByteBuffer(), nil)
        inbound.restart(position: position)
        // The next consumer begins after the last message that was posted.
        if !isStopping, options.stream != nil { link?.end("the local server is lost, and the stream is read again") }
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
                    case .goodbye(let goodbye): server?.close(goodbye.text)
                    case .welcome:
                        local = server
                        server?.welcomed()
                    case .ended, .woken, .gap, .synchronized, .statusPart: break
                    }
                }
            }
        } catch {
            server?.close("it wrote \(error)")
        }
    }

    private func receive(_ post: InboundPost) {
        // One that stops leaves the rest to the next one.
        guard !isStopping, let index = post.observerNumbers.first(where: { $0 < subjects.count }) else { return }
        let number = window.next
        if window.count == 0 { lastProgress = .now() }
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

    /// Keeps a connection to NATS until the bridge stops, or NATS refuses it from the beginning.
    private func keepLink() async {
        var (backoff, attempts) = (Backoff(), 0)
        while !isStopping {
            let server = options.servers[attempts % options.servers.count]
            attempts += 1
            do throws(NATSError) {
                let connection = try await connect(to: server)
                let start = NIODeadline.now()
                let error = await connection.waitForEnd()
                if .now() - start > .seconds(5) { backoff = Backoff() }
                throw error
            } catch {
                (link, status.server) = (nil, nil)
                if !hasLinked, error.needsConfiguration, attempts >= options.servers.count {
                    (refusal, isStopping) = (error, true)
                }
                // Nothing more is published.
                if isStopping { return end() }
                note(.link, "\(error)")
                check()
            }
            await pause(&backoff)
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
            hasLinked = true
            log.info("is connected to NATS", metadata: ["server": "\(server)"])
            (status.server, status.problems[.link]) = (server, nil)
            check()
            Task { await ping(connection) }
            return connection
        } catch {
            connection.end(error)
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
                return connection.end(error)
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
        (link, heard.at, lastProgress) = (connection, .now(), .now())
        publish(from: window.first)
        flush()
    }

    /// Publishes the posts of the window from a number on, when `flush` is called.
    private func publish(from number: UInt64) {
        for number in number..<window.next where !window[number].isFinished {
            let reply = options.stream.map { _ in "\(acknowledgements).\(number)" }
            outgoing.writeMessage(window[number].message.span.bytes, to: window[number].subject, reply: reply)
        }
    }

    /// Writes the messages. Without a stream a post is finished when the kernel has it.
    private func flush() {
        guard let link, outgoing.readableBytes > 0 else { return }
        let (first, next) = (window.first, window.next)
        let written = link.write(outgoing)
        outgoing = ByteBuffer()
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
        } catch {
            // The stream has a limit for the size of a message, and this one is larger. It would keep all that follow
            // from being acknowledged.
            let isTooLarge = error.number == 10054
            note(isTooLarge ? .size : .refusal, "\(error)")
            if isTooLarge { refuse(number) }
        }
    }

    private func note(_ problem: BridgeStatus.Problem, _ reason: String) {
        let before = status.problems.updateValue(reason, forKey: problem)
        // NATS denies each message.
        if before == reason || before != nil && problem == .denial { return }
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

    /// Without a stream, NATS is read as far as the local server reads. The consumer of a stream has flow control.
    func localWritabilityChanged() {
        if options.stream == nil { link?.setReading(isStopping || local?.isWritable ?? false) }
    }

    private func natsReadComplete() {
        post()
        removeFinished()
    }

    private func removeFinished() {
        let count = window.removeFinished()
        finished += count
        if count > 0 { (lastProgress, status.problems[.refusal]) = (.now(), nil) }
        if finished >= acknowledged + 1024 || isStopping && window.count == 0 {
            settle()
        } else if finished > acknowledged {
            settleLater()
        }
        if isStopping, window.count == 0 { end() }
    }

    /// An acknowledgement wakes the local server, so posts are acknowledged together.
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
            status.problems[.position] = nil
        } catch {
            note(.position, "\(error)")
        }
    }

    /// Each second: tells the status, and looks for what does not come.
    private func check() {
        guard let local else { return }
        if let link, options.stream != nil {
            if window.count > 0, lastProgress + .seconds(15) < .now() {
                if status.problems[.refusal] == nil { note(.refusal, "nothing was acknowledged for 15 s") }
                lastProgress = .now()
                publish(from: window.first)
                flush()
            }
            if inbound.heard != heard.count {
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
