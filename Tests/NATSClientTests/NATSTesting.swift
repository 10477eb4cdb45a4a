internal import Logging
internal import NATSClient
internal import NIOCore
internal import NIOPosix
internal import SharedTesting
internal import Synchronization
internal import XCTest

extension NATSServerProcess {
    /// Connects a client.
    func connect(_ name: String = "test", _ change: (inout NATSOptions) -> Void = { _ in }) async throws(NATSError)
        -> NATSConnection
    {
        try await NATSConnection.test(to: NATSServer("nats://127.0.0.1:\(port)"), name, change)
    }
}

extension NATSConnection {
    /// Connects a client with the timeouts of tests.
    static func test(
        to server: NATSServer, _ name: String = "test", _ change: (inout NATSOptions) -> Void = { _ in }
    ) async throws(NATSError) -> NATSConnection {
        var options = NATSOptions(name: name)
        options.connectTimeout = TestTimeout.hang
        change(&options)
        return try await connect(
            to: server, options: options, group: MultiThreadedEventLoopGroup.singleton, logger: Logger(label: name))
    }
}

/// The messages that came.
final class Received: Sendable {
    private let messages = Mutex<[NATSMessage]>([])

    func append(_ message: NATSMessage) { messages.withLock { $0.append(message) } }

    var all: [NATSMessage] { messages.withLock { $0 } }
    var payloads: [String] { all.map { String(buffer: $0.payload) } }
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
        XCTAssertEqual((error as? NATSError)?.code, code, "\(error)", file: file, line: line)
        XCTAssert(words.isEmpty || "\(error)".contains(words), "\(error)", file: file, line: line)
    }
}
