internal import Logging
internal import NATSClient
internal import NIOCore
internal import NIOPosix
internal import SharedTesting
internal import Synchronization
internal import XCTest

extension NATSServerProcess {
    /// Connects a client.
    func connect(_ change: (inout NATSOptions) -> Void = { _ in }) async throws(NATSError) -> NATSConnection {
        try await NATSConnection.test(to: NATSServer("nats://127.0.0.1:\(port)"), change)
    }
}

extension NATSConnection {
    /// Connects a client that waits long.
    static func test(
        to server: NATSServer, _ change: (inout NATSOptions) -> Void = { _ in }
    ) async throws(NATSError) -> NATSConnection {
        var options = NATSOptions(name: "test")
        options.connectTimeout = TestTimeout.hang
        change(&options)
        return try await connect(
            to: server, options: options, group: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: "test"))
    }
}

/// The messages that came.
final class Received: Sendable {
    private let messages = Mutex<[NATSMessage]>([])

    func append(_ message: NATSMessage) { messages.withLock { $0.append(message) } }

    var all: [NATSMessage] { messages.withLock { $0 } }
    var payloads: [String] { all.map { String(buffer: $0.payload) } }

    /// Waits until so many have come.
    func reaches(_ count: Int, file: StaticString = #filePath, line: UInt = #line) throws {
        try require(eventually { all.count >= count }, "\(all.count) of \(count) came", file: file, line: line)
    }
}

/// A server that sends the same to every client, whatever the client says.
final class Impostor: Sendable {
    private let channel: any Channel
    let server: NATSServer

    /// - Parameter ends: closes the connection afterwards.
    /// - Parameter hear: gets what the clients send.
    init(
        says text: String, ends: Bool = false, hear: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Speaker(text: text, ends: ends, hear: hear))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server = try NATSServer("nats://127.0.0.1:\(channel.localAddress?.port ?? 0)")
    }

    deinit { channel.close(promise: nil) }

    private final class Speaker: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let text: String
        private let ends: Bool
        private let hear: @Sendable (String) -> Void

        init(text: String, ends: Bool, hear: @escaping @Sendable (String) -> Void) {
            (self.text, self.ends, self.hear) = (text, ends, hear)
        }

        func channelActive(context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            if ends { context.close(promise: nil) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { hear(String(buffer: unwrapInboundIn(data))) }
    }
}

/// Fails the test unless `body` throws an error of this code, with these words.
func assertThrows(
    _ code: NATSError.Code, _ words: String = "", file: StaticString = #filePath, line: UInt = #line,
    _ body: () async throws -> some Any
) async {
    do {
        _ = try await body()
        XCTFail("nothing was thrown", file: file, line: line)
    } catch {
        assertEqual(error, code, words, file: file, line: line)
    }
}

/// Fails the test unless the error is of this code, and has these words.
func assertEqual(
    _ error: any Error, _ code: NATSError.Code, _ words: String, file: StaticString = #filePath, line: UInt = #line
) {
    let isSo = (error as? NATSError)?.code == code && (words.isEmpty || "\(error)".contains(words))
    XCTAssert(isSo, "\(error) is not \(code) with \"\(words)\"", file: file, line: line)
}
