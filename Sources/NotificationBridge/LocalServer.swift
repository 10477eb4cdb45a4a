internal import DistributedNotifications
internal import Glibc
internal import NIOCore
internal import NIOPosix

/// A bridge's connection to the local server. Any thread may use it.
struct LocalServer: Sendable {
    private let channel: any Channel
    private let welcome: EventLoopPromise<Void>
    private let end: EventLoopPromise<String>

    /// How long a server may take to start, and to answer.
    private static let timeout = Duration.seconds(5)

    /// Connects to the server of a directory, and starts it if none runs. The bridge gets what is read.
    static func connect(
        to directory: ServerDirectory, on loop: any EventLoop, of bridge: Bridge
    ) async throws(DistributedError) -> LocalServer {
        do {
            // It waits for a server that starts.
            let socket = try await NIOThreadPool.singleton.runIfActive {
                try ServerStart.connect(to: directory, timeout: timeout)
            }
            let descriptor = fcntl(socket.descriptor, F_DUPFD_CLOEXEC, 0)
            if descriptor < 0 { throw WireError.refused(SystemError.text(errno)) }
            let end = loop.makePromise(of: String.self)
            let channel = try await ClientBootstrap(group: loop)
                .channelInitializer { $0.pipeline.addHandler(LocalServerHandler(bridge: bridge, end: end)) }
                .withConnectedSocket(descriptor).get()
            return LocalServer(channel: channel, welcome: loop.makePromise(), end: end)
        } catch {
            throw error as? DistributedError ?? .pathNotUsable(path: directory.socketPath, problem: "\(error)")
        }
    }

    var isWritable: Bool { channel.isWritable }

    /// - Returns: why the connection has ended.
    func waitForEnd() async -> String {
        do { return try await end.futureResult.get() } catch { return "\(error)" }
    }

    func welcomed() { welcome.succeed() }

    /// Waits until the server has accepted the bridge.
    /// - Throws: `.serverRefused`.
    func waitForWelcome(path: String) async throws(DistributedError) {
        let timer = channel.eventLoop.scheduleTask(in: TimeAmount(Self.timeout)) { close("it does not answer") }
        defer { timer.cancel() }
        end.futureResult.whenSuccess { welcome.fail(WireError.refused($0)) }
        do {
            try await welcome.futureResult.get()
        } catch {
            throw .serverRefused(path: path, problem: "\(error)")
        }
    }

    /// - Returns: completes when the kernel has the bytes.
    @discardableResult
    func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> { channel.writeAndFlush(bytes) }

    func close(_ reason: String) {
        end.succeed(reason)
        channel.close(promise: nil)
    }
}

/// Threads: the event loop, on which the bridge runs too.
private final class LocalServerHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private let bridge: Bridge
    private let end: EventLoopPromise<String>

    init(bridge: Bridge, end: EventLoopPromise<String>) { (self.bridge, self.end) = (bridge, end) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        bridge.assumeIsolated { $0.receive(bytes) }
    }

    func channelReadComplete(context: ChannelHandlerContext) { bridge.assumeIsolated { $0.localReadComplete() } }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        bridge.assumeIsolated { $0.localWritabilityChanged() }
    }

    func handlerRemoved(context: ChannelHandlerContext) { end.succeed("the server ended") }
}
