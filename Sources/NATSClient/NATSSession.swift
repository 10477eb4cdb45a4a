internal import Logging
internal import NIOCore
internal import Synchronization

/// One connection, on its event loop: the beginning with INFO, TLS and CONNECT; then messages, pings and requests.
///
/// However it ends, `finish` is called with the reason, once, and completes everything that is outstanding.
final class NATSSession: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What other threads read.
    final class Published: Sendable {
        let info = Mutex<NATSServerInfo?>(nil)
        let roundTrip = Mutex<Duration?>(nil)
    }

    private enum Phase {
        case awaitingInfo, awaitingPong, ready
        case ended(NATSError)
    }

    let published = Published()
    /// Completes when the server has accepted this client.
    let ready: EventLoopPromise<Void>
    let closed: EventLoopPromise<NATSError>
    private let server: NATSServer
    private let options: NATSOptions
    private let deadline: NIODeadline
    private let logger: Logger
    private let loop: any EventLoop

    private var phase = Phase.awaitingInfo
    private var context: ChannelHandlerContext?
    private var parser: NATSParser
    var readComplete: (@Sendable () -> Void)?
    var refusal: (@Sendable (NATSError) -> Void)?
    private var handlers: [UInt64: @Sendable (NATSMessage) -> Void] = [:]
    private var timer: Scheduled<Void>?
    /// What waits for the answers to pings, which come in the order of the pings.
    private var pings = CircularBuffer<(sent: NIODeadline, promise: EventLoopPromise<Duration>?)>()
    private var unanswered = 0
    private let inbox = NATSConnection.makeInbox()
    private var requests:
        [UInt64: (subject: String, promise: EventLoopPromise<NATSMessage>, timeout: Scheduled<Void>)] =
            [:]
    private var lastRequest: UInt64 = 0

    init(
        _ server: NATSServer, _ options: NATSOptions, _ deadline: NIODeadline, _ logger: Logger, on loop: any EventLoop
    ) {
        (self.server, self.options, self.deadline) = (server, options, deadline)
        (self.logger, self.loop) = (logger, loop)
        parser = NATSParser(server, maximumPayload: options.maximumPayload)
        (ready, closed) = (loop.makePromise(), loop.makePromise())
    }

    // MARK: - What the channel says

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        timer = loop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            fail(.notConnected(server, "the server did not answer within \(options.connectTimeout)"))
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.notConnected(server, "no connection was made"))
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unanswered = 0
        // In a local variable: the check of exclusive access to a property takes a quarter of the time of a message.
        var parser = NATSParser(server, maximumPayload: 0)
        swap(&parser, &self.parser)
        defer { swap(&parser, &self.parser) }
        var bytes = unwrapInboundIn(data)
        parser.append(&bytes)
        do throws(NATSError) {
            while !hasEnded, let operation = try parser.next() {
                try handle(operation, isLast: parser.isEmpty, context)
            }
        } catch {
            fail(error)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { readComplete?() }

    func channelInactive(context: ChannelHandlerContext) { finish(.lost(server, "the server closed it")) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(NATSTLS.error(error, with: server) ?? .lost(server, "\(error)"))
    }

    /// - Parameter isLast: nothing has come after the operation.
    private func handle(
        _ operation: NATSParser.Operation, isLast: Bool, _ context: ChannelHandlerContext
    ) throws(NATSError) {
        switch operation {
        case .message(let message): handlers[message.line.subscription]?(message)
        case .ping: write("PONG\r\n")
        case .pong: pongCame()
        case .ok: break
        case .error(let text):
            let text = NATSError.quoted(text)
            guard case .ready = phase else {
                throw .rejected(server, "it refused this client: \(text); check the credentials")
            }
            guard text.contains("Permissions Violation") else { throw .lost(server, "it says \(text)") }
            // The one error after which the connection goes on.
            let error = NATSError(.rejected, "\(server) refused what this client asked for: \(text).")
            if let refusal { refusal(error) } else { logger.warning("\(error)") }
        case .info(let info):
            published.info.withLock { $0 = info }
            if case .awaitingInfo = phase { try begin(info, isLast: isLast, context) }
        }
    }

    // MARK: - The beginning

    private func begin(
        _ info: NATSServerInfo, isLast: Bool, _ context: ChannelHandlerContext
    ) throws(NATSError) {
        let mustUseTLS = options.requiresTLS || server.requiresTLS || options.trustedRoots != nil
        let usesTLS = mustUseTLS || info.tlsRequired == true
        if usesTLS {
            guard info.tlsRequired == true || info.tlsAvailable == true else {
                throw .rejected(server, "it does not offer TLS")
            }
            // What follows INFO in plain text is not from the server that TLS will prove.
            guard isLast else { throw .notConnected(server, "it sent more than INFO before TLS") }
            try startTLS(context)
        }
        phase = .awaitingPong
        write(
            "CONNECT \(String(decoding: NATSJSON.encode(NATSClientInfo(options, usesTLS: usesTLS)), as: UTF8.self))\r\n"
        )
        ping(nil)
    }

    private func startTLS(_ context: ChannelHandlerContext) throws(NATSError) {
        let handler = try NATSTLS.makeHandler(server, options)
        do {
            try context.pipeline.syncOperations.addHandler(handler, position: .first)
        } catch {
            throw .rejected(server, "TLS failed: \(error)")
        }
    }

    // MARK: - Pings

    func ping(_ promise: EventLoopPromise<Duration>?) {
        if case .ended(let reason) = phase { return promise?.fail(reason) ?? () }
        pings.append((.now(), promise))
        write("PING\r\n")
    }

    private func pongCame() {
        guard let ping = pings.popFirst() else { return }
        let roundTrip = Duration(NIODeadline.now() - ping.sent)
        published.roundTrip.withLock { $0 = roundTrip }
        ping.promise?.succeed(roundTrip)
        guard case .awaitingPong = phase else { return }
        phase = .ready
        schedulePing()
        ready.succeed()
    }

    private func schedulePing() {
        timer?.cancel()
        timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(options.pingInterval)) { [self] in
            guard unanswered < options.unansweredPings else {
                return fail(.lost(server, "it has not answered \(unanswered) pings, one each \(options.pingInterval)"))
            }
            unanswered += 1
            ping(nil)
            schedulePing()
        }
    }

    // MARK: - Subscriptions and requests

    func subscribe(_ id: UInt64, _ subject: String, _ handler: @escaping @Sendable (NATSMessage) -> Void) {
        guard !hasEnded else { return }
        handlers[id] = handler
        write("SUB \(subject) \(id)\r\n")
    }

    func unsubscribe(_ id: UInt64) {
        if handlers.removeValue(forKey: id) != nil { write("UNSUB \(id)\r\n") }
    }

    func request(
        _ subject: String, _ payload: ByteBuffer, _ timeout: Duration, _ promise: EventLoopPromise<NATSMessage>
    ) {
        if case .ended(let reason) = phase { return promise.fail(reason) }
        // The subscriptions of the connection's user are counted from 1.
        if handlers[0] == nil {
            let session = NIOLoopBound(self, eventLoop: loop)
            subscribe(0, "\(inbox).*") { session.value.answerCame($0) }
        }
        lastRequest += 1
        let timer = loop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [self, number = lastRequest] in
            guard requests.removeValue(forKey: number) != nil else { return }
            promise.fail(NATSError(.notAnswered, "A request to \(subject) was not answered within \(timeout)."))
        }
        requests[lastRequest] = (subject, promise, timer)
        var bytes = ByteBuffer()
        bytes.writePublish(payload.readableBytesSpan, to: subject, reply: "\(inbox).\(lastRequest)")
        write(bytes)
    }

    private func answerCame(_ message: NATSMessage) {
        let number = decimal(message.subjectBytes.dropFirst(inbox.utf8.count + 1))
        guard let number, let request = requests.removeValue(forKey: number) else { return }
        request.timeout.cancel()
        if message.status == 503 {
            request.promise.fail(NATSError.noResponders(request.subject))
        } else {
            request.promise.succeed(message)
        }
    }

    private func write(_ text: String) { write(ByteBuffer(string: text)) }
    private func write(_ bytes: ByteBuffer) { context?.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }

    // MARK: - The end

    private var hasEnded: Bool { if case .ended = phase { true } else { false } }

    func fail(_ reason: NATSError) {
        finish(reason)
        context?.close(promise: nil)
    }

    private func finish(_ reason: NATSError) {
        guard !hasEnded else { return }
        phase = .ended(reason)
        timer?.cancel()
        let (pings, requests) = (pings, requests)
        (handlers, readComplete, refusal, self.requests) = ([:], nil, nil, [:])
        self.pings.removeAll()
        ready.fail(reason)
        for ping in pings { ping.promise?.fail(reason) }
        for request in requests.values {
            request.timeout.cancel()
            request.promise.fail(reason)
        }
        closed.succeed(reason)
    }
}
