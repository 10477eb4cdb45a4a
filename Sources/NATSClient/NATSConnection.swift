internal import Glibc
package import NIOCore
internal import NIOPosix

/// A connection to a NATS server: the beginning with INFO, TLS and CONNECT; then messages and pings.
///
/// It ends once, for the reason that `closed` tells, and everything outstanding fails with that reason. It does not
/// connect again: its user does, after `Backoff`. Its user gives no subject with a space or a line's end in it.
///
/// Threads: any. The connection's event loop runs the actor, and calls all handlers.
package actor NATSConnection {
    package nonisolated let server: NATSServer
    private nonisolated let options: NATSOptions
    private nonisolated let channel: any Channel
    /// Completes when the server has accepted this client.
    private nonisolated let accepted: EventLoopPromise<Void>
    private nonisolated let end: EventLoopPromise<NATSError>
    private let onRefusal: @Sendable (NATSError) -> Void
    private let onReadComplete: @Sendable () -> Void

    private let parser: NIOSingleStepByteToMessageProcessor<NATSParser>
    private var info: NATSServerInfo?
    private var isAccepted = false
    private var hasEnded = false
    /// A subscription's number is its index.
    private var subscribers: [@Sendable (NATSMessage) -> Void] = []
    /// The answers come in the same order. With the first one the server has accepted this client.
    private var pings = CircularBuffer<EventLoopPromise<Void>>()

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        channel.eventLoop.executor.asUnownedSerialExecutor()
    }

    /// Completes when the connection has ended.
    package nonisolated var closed: EventLoopFuture<NATSError> { end.futureResult }

    private init(
        _ server: NATSServer, _ options: NATSOptions, _ channel: any Channel,
        _ onRefusal: @escaping @Sendable (NATSError) -> Void, _ onReadComplete: @escaping @Sendable () -> Void
    ) {
        (self.server, self.options, self.channel) = (server, options, channel)
        (self.onRefusal, self.onReadComplete) = (onRefusal, onReadComplete)
        (accepted, end) = (channel.eventLoop.makePromise(), channel.eventLoop.makePromise())
        parser = NIOSingleStepByteToMessageProcessor(NATSParser(server: server))
    }

    // MARK: Beginning and end

    /// Connects, with TLS if either side requires it, and waits until the server has accepted this client.
    /// - Parameters:
    ///   - onRefusal: called when the server refuses a subscription or a message, which it only says.
    ///   - onReadComplete: called when all that was read at once has been given to the subscribers.
    package static func connect(
        to server: NATSServer, options: NATSOptions, group: any EventLoopGroup,
        onRefusal: @escaping @Sendable (NATSError) -> Void = { _ in },
        onReadComplete: @escaping @Sendable () -> Void = {}
    ) async throws(NATSError) -> NATSConnection {
        let timeout = TimeAmount(options.timeout)
        let deadline = NIODeadline.now() + timeout
        do {
            let bootstrap = ClientBootstrap(group: group).connectTimeout(timeout)
            let connection = try await bootstrap.connect(host: server.host, port: server.port) { channel in
                let connection = NATSConnection(server, options, channel, onRefusal, onReadComplete)
                return channel.pipeline.addHandler(Handler(connection: connection)).map { connection }
            }
            let timer = connection.channel.eventLoop.scheduleTask(deadline: deadline) {
                connection.end(.notConnected(server, "the server did not answer within \(options.timeout)"))
            }
            defer { timer.cancel() }
            try await connection.accepted.futureResult.get()
            return connection
        } catch let error as NIOConnectionError {
            let reason = error.connectionErrors.last.map { problem in
                (problem.error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(problem.error)"
            }
            throw .notConnected(server, reason ?? "the name of the host is not known")
        } catch ChannelError.connectTimeout {
            throw .notConnected(server, "nothing answered within \(options.timeout). Is a firewall in the way?")
        } catch {
            throw error as? NATSError ?? .notConnected(server, "\(error)")
        }
    }

    private func begin(_ info: NATSServerInfo) throws(NATSError) {
        self.info = info
        guard info.maxPayload >= options.largestMessage else {
            let limits = "its max_payload is \(info.maxPayload); let it be at least \(options.largestMessage)"
            throw .rejected(server, limits)
        }
        let isRequired = info.tlsRequired == true
        if isRequired || server.requiresTLS || options.requiresTLS || options.trustedRoots != nil {
            guard isRequired || info.tlsAvailable == true else { throw .rejected(server, "it does not offer TLS") }
            // Bytes after INFO in plain text are not from the server that TLS will prove.
            guard parser.unprocessedBytes == 0 else { throw .rejected(server, "it sent more than INFO before TLS") }
            try NATSTLS.add(to: channel.pipeline, server, options)
        }
        write("CONNECT \(String(decoding: NATSJSON.encode(NATSClientInfo(options)), as: UTF8.self))\r\n")
        ping(accepted)
    }

    /// Waits until the server has read everything that was written, and closes the connection.
    /// - Parameter timeout: of the wait; nil: the one for connecting.
    package func close(timeout: Duration? = nil) async {
        _ = try? await ping(timeout: timeout)
        end("this client closed it")
        _ = try? await channel.closeFuture.get()
    }

    /// - Returns: why the connection has ended.
    package func waitForEnd() async -> NATSError {
        do { return try await closed.get() } catch { return .lost(server, "\(error)") }
    }

    /// Ends the connection at once.
    package nonisolated func end(_ reason: String) { end(.lost(server, reason)) }

    package nonisolated func end(_ error: NATSError) {
        channel.eventLoop.execute {
            self.assumeIsolated { $0.finish(error) }
            self.channel.close(promise: nil)
        }
    }

    fileprivate func finish(_ error: NATSError) {
        guard !hasEnded else { return }
        (hasEnded, subscribers) = (true, [])
        accepted.fail(error)
        for ping in pings { ping.fail(error) }
        end.succeed(error)
    }

    // MARK: Reading

    fileprivate func receive(_ bytes: ByteBuffer) {
        do {
            try parser.process(buffer: bytes) { try handle($0) }
        } catch {
            end(error as? NATSError ?? .lost(server, "\(error)"))
        }
    }

    fileprivate func readComplete() { if !hasEnded { onReadComplete() } }

    private func handle(_ operation: NATSParser.InboundOut) throws(NATSError) {
        switch operation {
        case .message(let message):
            if message.subscription < subscribers.count { subscribers[message.subscription](message) }
        case .ping: write("PONG\r\n")
        case .pong:
            isAccepted = true
            pings.popFirst()?.succeed()
        case .ok: break
        case .info(let info): if self.info == nil { try begin(info) }
        case .error(let text):
            guard isAccepted || !text.contains("Authorization") else {
                throw .rejected(server, "it says \(text); check the credentials")
            }
            guard text.contains("Permissions Violation") else { throw .lost(server, "it says \(text)") }
            // The one error after which the connection goes on.
            onRefusal(NATSError("\(server) refused what this client asked for: \(text)."))
        }
    }

    /// Continues or pauses reading. The server ends a connection that does not read for some seconds.
    package nonisolated func setReading(_ flag: Bool) { _ = channel.setOption(.autoRead, value: flag) }

    // MARK: Writing

    /// Calls `handler` for each message of a subject, in the order of arrival.
    package func subscribe(_ subject: String, handler: @escaping @Sendable (NATSMessage) -> Void) {
        if hasEnded { return }
        write("SUB \(subject) \(subscribers.count)\r\n")
        subscribers.append(handler)
    }

    private func write(_ text: String) { write(ByteBuffer(string: text)) }

    /// Writes what `writeMessage` made.
    /// - Returns: completes when the kernel has the bytes.
    @discardableResult
    package nonisolated func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> { channel.writeAndFlush(bytes) }

    /// Publishes a message, and waits for the answer to it. The subscription to that remains: this is for few requests.
    func request(_ subject: String, _ payload: [UInt8]) async throws(NATSError) -> NATSMessage {
        let inbox = Self.makeInbox()
        var bytes = ByteBuffer()
        bytes.writeMessage(payload.span.bytes, to: subject, reply: inbox)
        return try await answer(to: subject) { promise in
            subscribe(inbox) { promise.succeed($0) }
            write(bytes)
            closed.whenSuccess { promise.fail($0) }
        }
    }

    /// Sends a ping, and waits for its answer: then the server has read everything that was written before.
    /// - Parameter timeout: nil: the one for connecting.
    package func ping(timeout: Duration? = nil) async throws(NATSError) {
        try await answer(to: "a ping", timeout) { ping($0) }
    }

    private func ping(_ promise: EventLoopPromise<Void>) {
        if hasEnded { return closed.whenSuccess { promise.fail($0) } }
        pings.append(promise)
        write("PING\r\n")
    }

    /// Waits for an answer, but neither longer than the timeout, nor after the end of the connection.
    private func answer<Answer: Sendable>(
        to question: String, _ timeout: Duration? = nil, _ ask: (EventLoopPromise<Answer>) -> Void
    ) async throws(NATSError) -> Answer {
        let timeout = timeout ?? options.timeout
        let promise = channel.eventLoop.makePromise(of: Answer.self)
        ask(promise)
        let late = NATSError("\(server) did not answer \(question) within \(timeout).", needsConfiguration: false)
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { promise.fail(late) }
        defer { timer.cancel() }
        do {
            return try await promise.futureResult.get()
        } catch {
            throw error as? NATSError ?? .lost(server, "\(error)")
        }
    }

    /// A random subject for answers.
    package static func makeInbox() -> String {
        "_INBOX.\(UInt64.random(in: .min ... .max))\(UInt64.random(in: .min ... .max))"
    }
}

extension ByteBuffer {
    /// Writes a message to publish.
    /// - Parameter reply: the subject to answer to, made of `makeInbox`.
    package mutating func writeMessage(_ payload: borrowing RawSpan, to subject: String, reply: String? = nil) {
        writeStaticString("PUB ")
        writeString(subject)
        writeStaticString(" ")
        writeString(reply ?? "")
        writeStaticString(" ")
        writeString(String(payload.byteCount))
        writeStaticString("\r\n")
        writeBytes(payload)
        writeStaticString("\r\n")
    }
}

private final class Handler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let connection: NATSConnection

    init(connection: NATSConnection) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        connection.assumeIsolated { $0.receive(bytes) }
    }

    func channelReadComplete(context: ChannelHandlerContext) { connection.assumeIsolated { $0.readComplete() } }

    func handlerRemoved(context: ChannelHandlerContext) {
        connection.assumeIsolated { $0.finish(.lost($0.server, "the server closed it")) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.end(NATSTLS.error(error, with: connection.server))
    }
}
