internal import Glibc
package import Logging
package import NIOCore
internal import NIOPosix

/// A connection to a NATS server, on one event loop. All of it may be used from any thread.
///
/// It ends once, for the reason that `closed` tells, and everything outstanding fails with that reason. It does not
/// connect again: its user does, after `Backoff`. Its user also checks subjects, with `isSubject`.
package struct NATSConnection: Sendable {
    package let server: NATSServer
    /// Completes when the connection has ended.
    package let closed: EventLoopFuture<NATSError>
    private let channel: any Channel
    private let session: NIOLoopBound<NATSSession>
    private let ready: EventLoopFuture<Int>
    /// How long an answer may take.
    private let timeout: Duration
    private var maximumPayload = 0

    /// Connects, with TLS if either side requires it, and waits until the server has accepted this client.
    package static func connect(
        to server: NATSServer, options: NATSOptions, group: any EventLoopGroup, logger: Logger
    ) async throws(NATSError) -> NATSConnection {
        let timeout = TimeAmount(options.timeout)
        let deadline = NIODeadline.now() + timeout
        do {
            let bootstrap = ClientBootstrap(group: group).connectTimeout(timeout)
            var connection = try await bootstrap.connect(host: server.host, port: server.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let session = NATSSession(server, options, logger, on: channel.eventLoop)
                    try channel.pipeline.syncOperations.addHandler(session)
                    return NATSConnection(
                        server: server, closed: session.closed.futureResult, channel: channel,
                        session: NIOLoopBound(session, eventLoop: channel.eventLoop),
                        ready: session.ready.futureResult, timeout: options.timeout)
                }
            }
            let timer = connection.channel.eventLoop.scheduleTask(deadline: deadline) { [connection] in
                let reason = "the server did not answer within \(options.timeout)"
                connection.session.value.fail(.notConnected(server, reason))
            }
            defer { timer.cancel() }
            connection.maximumPayload = try await connection.ready.get()
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

    /// Calls `handler` on the event loop for each message of a subject, in the order of arrival.
    package func subscribe(_ subject: String, handler: @escaping @Sendable (NATSMessage) -> Void) {
        onLoop { $0.subscribe(subject, handler) }
    }

    /// Calls `body` on the event loop when all that was read at once has been given to the handlers.
    package func onReadComplete(_ body: @escaping @Sendable () -> Void) { onLoop { $0.readComplete = body } }

    /// Calls `body` on the event loop when the server refuses a subscription or a message, which it only says.
    package func onRefusal(_ body: @escaping @Sendable (NATSError) -> Void) { onLoop { $0.refusal = body } }

    /// Whether more is read from the server. If not, the server is not read from for long, it ends the connection.
    package func setReading(_ flag: Bool) { _ = channel.setOption(.autoRead, value: flag) }

    /// Appends one message to what `write` will write.
    /// - Parameter reply: the subject to answer to, made of `makeInbox`.
    package func append(
        _ payload: borrowing RawSpan, to subject: String, reply: String? = nil, into bytes: inout ByteBuffer
    ) throws(NATSError) {
        let size = payload.byteCount
        guard size <= maximumPayload else {
            throw NATSError("A message of \(size) bytes is too large for \(server): max_payload is \(maximumPayload).")
        }
        bytes.writeStaticString("PUB ")
        bytes.writeString(subject)
        bytes.writeStaticString(" ")
        bytes.writeString(reply ?? "")
        bytes.writeStaticString(" ")
        bytes.writeString(String(size))
        bytes.writeStaticString("\r\n")
        bytes.writeBytes(payload)
        bytes.writeStaticString("\r\n")
    }

    /// Writes what `append` made.
    /// - Returns: completes when the kernel has the bytes.
    @discardableResult
    package func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> { channel.writeAndFlush(bytes) }

    /// Publishes a message, and waits for the answer to it. The subscription to that remains: this is for few requests.
    func request(_ subject: String, _ payload: [UInt8]) async throws(NATSError) -> NATSMessage {
        let inbox = Self.makeInbox()
        var bytes = ByteBuffer()
        try append(payload.span.bytes, to: subject, reply: inbox, into: &bytes)
        return try await answer(to: subject) { [bytes] promise in
            subscribe(inbox) { promise.succeed($0) }
            write(bytes)
        }
    }

    /// Sends a ping, and waits for its answer: then the server has read everything that was written before.
    /// - Parameter timeout: nil: the one for connecting.
    package func ping(timeout: Duration? = nil) async throws(NATSError) {
        try await answer(to: "a ping", timeout) { promise in onLoop { $0.ping(promise) } }
    }

    /// Waits for an answer, but neither longer than the timeout, nor after the end of the connection.
    private func answer<Answer: Sendable>(
        to question: String, _ timeout: Duration? = nil, _ ask: (EventLoopPromise<Answer>) -> Void
    ) async throws(NATSError) -> Answer {
        let timeout = timeout ?? self.timeout
        let promise = channel.eventLoop.makePromise(of: Answer.self)
        ask(promise)
        let late = NATSError("\(server) did not answer \(question) within \(timeout).", needsConfiguration: false)
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { promise.fail(late) }
        defer { timer.cancel() }
        closed.whenSuccess { promise.fail($0) }
        do {
            return try await promise.futureResult.get()
        } catch {
            throw error as? NATSError ?? .lost(server, "\(error)")
        }
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
    package func end(_ reason: String) { onLoop { [server] in $0.fail(.lost(server, reason)) } }

    private func onLoop(_ body: @escaping @Sendable (NATSSession) -> Void) {
        channel.eventLoop.execute { [session] in body(session.value) }
    }

    /// A subject that nobody else knows.
    package static func makeInbox() -> String {
        "_INBOX.\(UInt64.random(in: .min ... .max))\(UInt64.random(in: .min ... .max))"
    }

    /// Whether the text has nothing that ends a word or a line of the protocol, and no empty part.
    package static func isSubject(_ text: String) -> Bool {
        let dot = UInt8(ascii: ".")
        var previous = dot
        for byte in text.utf8 {
            guard byte > 0x20, byte != 0x7F, byte != dot || previous != dot else { return false }
            previous = byte
        }
        return previous != dot
    }
}
