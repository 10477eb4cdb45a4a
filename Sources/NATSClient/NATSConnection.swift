package import Logging
package import NIOCore
internal import NIOPosix
internal import Synchronization

/// A connection to a NATS server, on one event loop. All of it may be used from any thread.
///
/// It ends once, for the reason that `closed` tells, and everything outstanding fails with that reason. It does not
/// connect again: its user does, after `Backoff`.
package final class NATSConnection: Sendable {
    package let server: NATSServer
    private let channel: any Channel
    private let session: NIOLoopBound<NATSSession>
    private let published: NATSSession.Published
    private let info: NATSServerInfo
    private let closeTimeout: Duration
    private let lastSubscription = Atomic<UInt64>(0)
    /// Completes when the connection has ended.
    package let closed: EventLoopFuture<NATSError>

    /// Connects, with TLS if either side requires it, and waits until the server has accepted this client.
    package static func connect(
        to server: NATSServer, options: NATSOptions, group: any EventLoopGroup, logger: Logger
    ) async throws(NATSError) -> NATSConnection {
        let deadline = NIODeadline.now() + TimeAmount(options.connectTimeout)
        let bootstrap = ClientBootstrap(group: group)
            .connectTimeout(TimeAmount(options.connectTimeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 256 << 10, high: 1 << 20))
        do {
            let (channel, session) = try await bootstrap.connect(host: server.host, port: server.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let session = NATSSession(server, options, deadline, logger, on: channel.eventLoop)
                    try channel.pipeline.syncOperations.addHandler(session)
                    return (channel, NIOLoopBound(session, eventLoop: channel.eventLoop))
                }
            }
            return try await channel.eventLoop.flatSubmit {
                session.value.ready.futureResult.flatMapThrowing { @Sendable _ throws in
                    try NATSConnection(server, channel, session.value, options)
                }
            }.get()
        } catch let error as NATSError {
            throw error
        } catch let error as NIOConnectionError {
            let problem = error.connectionErrors.last.map { "\($0.error)" } ?? "the name of the host is not known"
            throw .notConnected(server, problem)
        } catch {
            throw .notConnected(server, "\(error)")
        }
    }

    private init(_ server: NATSServer, _ channel: any Channel, _ session: NATSSession, _ options: NATSOptions) throws {
        (self.server, self.channel, closeTimeout) = (server, channel, options.connectTimeout)
        (published, closed) = (session.published, session.closed.futureResult)
        self.session = NIOLoopBound(session, eventLoop: channel.eventLoop)
        guard let info = published.info.withLock({ $0 }) else {
            throw NATSError.notConnected(server, "it sent no INFO")
        }
        self.info = info
    }

    deinit { onLoop { [server] in $0.fail(.closed(server)) } }

    /// What the server said last about itself.
    package var serverInfo: NATSServerInfo { published.info.withLock { $0 } ?? info }
    /// The time from the last ping to its answer.
    package var roundTrip: Duration? { published.roundTrip.withLock { $0 } }
    /// False while more than a mebibyte waits for the network.
    package var isWritable: Bool { channel.isWritable }
    package var eventLoop: any EventLoop { channel.eventLoop }

    // MARK: - Receiving

    /// Calls `handler` on the event loop for each message of a subject, in the order of arrival.
    /// - Returns: the number of the subscription, for `unsubscribe`.
    @discardableResult
    package func subscribe(
        _ subject: String, handler: @escaping @Sendable (NATSMessage) -> Void
    ) throws(NATSError) -> UInt64 {
        try Self.check(subject)
        let id = lastSubscription.add(1, ordering: .relaxed).newValue
        onLoop { $0.subscribe(id, subject, handler) }
        return id
    }

    package func unsubscribe(_ subscription: UInt64) { onLoop { $0.unsubscribe(subscription) } }

    /// Calls `body` on the event loop when all that was read at once has been given to the handlers: the time to write
    /// once for many messages.
    package func onReadComplete(_ body: @escaping @Sendable () -> Void) { onLoop { $0.readComplete = body } }

    /// Calls `body` on the event loop when the server refuses a subscription or a message, which it only says. Without
    /// this, that is logged.
    package func onRefusal(_ body: @escaping @Sendable (NATSError) -> Void) { onLoop { $0.refusal = body } }

    // MARK: - Sending

    /// Publishes one message. `append` and `write` are faster for many.
    @discardableResult
    package func publish(
        _ payload: borrowing RawSpan, to subject: String, reply: String? = nil
    ) throws(NATSError) -> EventLoopFuture<Void> {
        var bytes = ByteBuffer()
        try append(payload, to: subject, reply: reply, into: &bytes)
        return write(bytes)
    }

    /// Appends one message to what `write` will write.
    package func append(
        _ payload: borrowing RawSpan, to subject: String, reply: String? = nil, into bytes: inout ByteBuffer
    ) throws(NATSError) {
        try Self.check(subject)
        if let reply { try Self.check(reply) }
        try check(size: payload.byteCount)
        bytes.writePublish(payload, to: subject, reply: reply)
    }

    /// Writes what `append` made.
    /// - Returns: completes when the kernel has the bytes, or fails with the reason of the connection's end.
    @discardableResult
    package func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> {
        channel.writeAndFlush(bytes).flatMapError { [closed] _ in
            // A write fails only if the connection ends.
            closed.flatMapThrowing { throw $0 }
        }
    }

    /// Publishes a message, and waits for the answer to it.
    package func request(
        _ subject: String, _ payload: ByteBuffer = ByteBuffer(), timeout: Duration = .seconds(5)
    ) async throws(NATSError) -> NATSMessage {
        try Self.check(subject)
        try check(size: payload.readableBytes)
        return try await answer { $0.request(subject, payload, timeout, $1) }
    }

    /// Sends a ping, and waits for its answer: then the server has read everything that was written before.
    @discardableResult
    package func ping() async throws(NATSError) -> Duration { try await answer { $0.ping($1) } }

    // MARK: - The end

    /// Waits until the server has read everything that was written, and closes the connection.
    /// - Parameter timeout: of the wait; nil: the connect timeout.
    package func close(timeout: Duration? = nil) async {
        let end = eventLoop.scheduleTask(in: TimeAmount(timeout ?? closeTimeout)) { [session, server] in
            session.value.fail(.closed(server))
        }
        _ = try? await ping()
        end.cancel()
        onLoop { [server] in $0.fail(.closed(server)) }
        _ = try? await channel.closeFuture.get()
    }

    /// A subject that nobody else knows.
    package static func makeInbox() -> String {
        let words = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        return "_INBOX.\(words.joined())"
    }

    /// Whether the text has nothing that ends a word or a line of the protocol, and no empty part.
    package static func isSubject(_ text: String) -> Bool {
        var last = UInt8(ascii: ".")
        let bytes = text.utf8Span.span
        for index in bytes.indices {
            let byte = bytes[index]
            guard byte > 0x20, byte != 0x7F, byte != UInt8(ascii: ".") || last != byte else { return false }
            last = byte
        }
        return last != UInt8(ascii: ".")
    }

    private static func check(_ subject: String) throws(NATSError) {
        guard !isSubject(subject) else { return }
        throw NATSError(.notUsable, "\(NATSError.quoted(subject.utf8)) is no subject: words, with dots between, are.")
    }

    private func check(size: Int) throws(NATSError) {
        guard size > info.maxPayload else { return }
        throw NATSError(
            .notUsable, "A message of \(size) bytes is too large for \(server). Its max_payload is \(info.maxPayload).")
    }

    private func answer<Value: Sendable>(
        _ ask: @escaping @Sendable (NATSSession, EventLoopPromise<Value>) -> Void
    ) async throws(NATSError) -> Value {
        let promise = eventLoop.makePromise(of: Value.self)
        onLoop { ask($0, promise) }
        do {
            return try await promise.futureResult.get()
        } catch {
            throw error as? NATSError ?? .lost(server, "\(error)")
        }
    }

    private func onLoop(_ body: @escaping @Sendable (NATSSession) -> Void) {
        if eventLoop.inEventLoop { return body(session.value) }
        eventLoop.execute { [session] in body(session.value) }
    }
}

extension ByteBuffer {
    mutating func writePublish(_ payload: borrowing RawSpan, to subject: String, reply: String?) {
        writeStaticString("PUB ")
        writeString(subject)
        writeStaticString(" ")
        if let reply {
            writeString(reply)
            writeStaticString(" ")
        }
        writeString(String(payload.byteCount))
        writeStaticString("\r\n")
        writeBytes(payload)
        writeStaticString("\r\n")
    }
}
