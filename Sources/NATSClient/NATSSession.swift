internal import Logging
internal import NIOCore

/// One connection, on its event loop: the beginning with INFO, TLS and CONNECT; then messages and pings.
///
/// However it ends, `finish` is called with the reason, once. Everything outstanding then fails through `closed`.
final class NATSSession: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Completes with the size of the largest payload, when the server has accepted this client.
    let ready: EventLoopPromise<Int>
    let closed: EventLoopPromise<NATSError>
    private let server: NATSServer
    private let options: NATSOptions
    private let logger: Logger

    private let parser: NIOSingleStepByteToMessageProcessor<NATSParser>
    private var context: ChannelHandlerContext?
    private var info: NATSServerInfo?
    private var hasEnded = false
    var readComplete: (@Sendable () -> Void)?
    /// Called when the server refuses a subscription or a message.
    var refusal: (@Sendable (NATSError) -> Void)?
    /// A subscription's number is its index.
    private var handlers: [@Sendable (NATSMessage) -> Void] = []
    /// The answers come in the same order. With the first one the server has accepted this client.
    private var pings = CircularBuffer<EventLoopPromise<Void>?>()
    private var isAccepted = false

    init(_ server: NATSServer, _ options: NATSOptions, _ logger: Logger, on loop: any EventLoop) {
        (self.server, self.options, self.logger) = (server, options, logger)
        parser = NIOSingleStepByteToMessageProcessor(NATSParser(server: server))
        (ready, closed) = (loop.makePromise(), loop.makePromise())
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.lost(server, "the server closed it"))
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            try parser.process(buffer: unwrapInboundIn(data)) { try handle($0, context) }
        } catch {
            fail(error as? NATSError ?? .lost(server, "\(error)"))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) { readComplete?() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(NATSTLS.error(error, with: server)) }

    private func handle(_ operation: NATSParser.InboundOut, _ context: ChannelHandlerContext) throws(NATSError) {
        switch operation {
        case .message(let message):
            if message.subscription < handlers.count { handlers[message.subscription](message) }
        case .ping: write("PONG\r\n")
        case .pong:
            isAccepted = true
            pings.popFirst()??.succeed()
            ready.succeed(info?.maxPayload ?? 0)
        case .ok: break
        case .info(let info): if self.info == nil { try begin(info, context) }
        case .error(let text):
            guard isAccepted else { throw .rejected(server, "it says \(text); check the credentials") }
            guard text.contains("Permissions Violation") else { throw .lost(server, "it says \(text)") }
            // The one error after which the connection goes on.
            let error = NATSError("\(server) refused what this client asked for: \(text).")
            if let refusal { refusal(error) } else { logger.warning("\(error)") }
        }
    }

    private func begin(_ info: NATSServerInfo, _ context: ChannelHandlerContext) throws(NATSError) {
        self.info = info
        let isRequired = info.tlsRequired == true
        if isRequired || server.requiresTLS || options.requiresTLS || options.trustedRoots != nil {
            guard isRequired || info.tlsAvailable == true else { throw .rejected(server, "it does not offer TLS") }
            // Bytes after INFO in plain text are not from the server that TLS will prove.
            guard parser.unprocessedBytes == 0 else { throw .rejected(server, "it sent more than INFO before TLS") }
            try NATSTLS.add(to: context.pipeline, server, options)
        }
        write("CONNECT \(String(decoding: NATSJSON.encode(NATSClientInfo(options)), as: UTF8.self))\r\n")
        ping()
    }

    func ping(_ promise: EventLoopPromise<Void>? = nil) {
        pings.append(promise)
        write("PING\r\n")
    }

    func subscribe(_ subject: String, _ handler: @escaping @Sendable (NATSMessage) -> Void) {
        guard !hasEnded else { return }
        write("SUB \(subject) \(handlers.count)\r\n")
        handlers.append(handler)
    }

    private func write(_ text: String) {
        context?.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    func fail(_ reason: NATSError) {
        finish(reason)
        context?.close(promise: nil)
    }

    private func finish(_ reason: NATSError) {
        guard !hasEnded else { return }
        hasEnded = true
        (handlers, readComplete, refusal) = ([], nil, nil)
        ready.fail(reason)
        closed.succeed(reason)
    }
}
