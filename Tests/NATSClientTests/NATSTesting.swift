internal import NIOCore
internal import NIOPosix
internal import Scenarios
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

extension NATSHub {
    /// A server with JetStream.
    static func started(_ prepare: (NATSHub) throws -> Void = { _ in }) throws -> NATSHub {
        if let missing { throw XCTSkip(missing) }
        let hub = try NATSHub(timeout: TestTimeout.hang)
        try prepare(hub)
        try hub.start()
        return hub
    }

    var url: String { "nats://127.0.0.1:\(port)" }

    /// Connects a client.
    func connect(_ change: (inout NATSOptions) -> Void = { _ in }) async throws(NATSError) -> NATSConnection {
        try await NATSConnection.test(to: url, change)
    }
}

extension NATSConnection {
    /// Connects a client that waits long.
    static func test(
        to url: String, onRefusal: @escaping @Sendable (NATSError) -> Void = { _ in },
        onReadComplete: @escaping @Sendable () -> Void = {}, _ change: (inout NATSOptions) -> Void = { _ in }
    ) async throws(NATSError) -> NATSConnection {
        var options = NATSOptions(name: "test")
        options.timeout = TestTimeout.hang
        change(&options)
        return try await connect(
            to: NATSServer(url), options: options, group: MultiThreadedEventLoopGroup.singleton,
            onRefusal: onRefusal, onReadComplete: onReadComplete)
    }

    nonisolated func publish(_ payload: [UInt8], to subject: String, reply: String? = nil) {
        var bytes = ByteBuffer()
        bytes.writeMessage(payload.span.bytes, to: subject, reply: reply)
        write(bytes)
    }

    /// Publishes, and waits until JetStream has it.
    func store(_ payload: [UInt8], in subject: String) async throws(NATSError) {
        try await request(subject, payload).checkIsStored(subject)
    }
}

/// Fails the test unless `body` throws an error with these words.
func assertThrows(
    _ words: String, needsConfiguration: Bool = true, file: StaticString = #filePath, line: UInt = #line,
    _ body: () async throws -> some Any
) async {
    do {
        _ = try await body()
        XCTFail("nothing was thrown instead of \(words)", file: file, line: line)
    } catch {
        XCTAssert("\(error)".contains(words), "\(error) does not contain \(words)", file: file, line: line)
        XCTAssertEqual((error as? NATSError)?.needsConfiguration, needsConfiguration, words, file: file, line: line)
    }
}
