internal import NIOCore
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

final class NATSParserTests: XCTestCase {
    private static let session = """
        INFO {"server_id":"A","version":"2.9.10","max_payload":1048576,"headers":true}\r
        +OK\r
        PING\r
        MSG a.b 1 5\r
        hello\r
        MSG a.b 22 _INBOX.x.1 0\r
        \r
        HMSG a 3 27 31\r
        NATS/1.0 100 Idle\r
        A: b\r
        \r
        c\r
        x\r
        PONG\r
        -ERR 'No'\r

        """

    /// Every operation, as text.
    private func operations(_ pieces: [[UInt8]], maximumPayload: Int = 1 << 20) throws -> [String] {
        var parser = NATSParser(try NATSServer("nats://host"), maximumPayload: maximumPayload)
        var operations: [String] = []
        for piece in pieces {
            var bytes = ByteBuffer(bytes: piece)
            parser.append(&bytes)
            while let operation = try parser.next() {
                switch operation {
                case .message(let message):
                    let payload = String(buffer: message.payload)
                    operations.append(
                        "\(message.line.subscription) \(message.subject) \(message.reply ?? "-") "
                            + "\(message.status ?? 0) \(message.header("A") ?? "-") \(payload)")
                case .error(let text): operations.append(String(decoding: text, as: UTF8.self))
                case .info(let info): operations.append("\(info.version) \(info.maxPayload)")
                default: operations.append("\(operation)")
                }
            }
        }
        return operations
    }

    func testPiecesOfEverySizeGiveTheSameOperations() throws {
        let bytes = Array(Self.session.utf8)
        let expected = [
            "2.9.10 1048576", "ok", "ping", "1 a.b - 0 - hello", "22 a.b _INBOX.x.1 0 - ", "3 a - 100 b c\r\nx", "pong",
            "'No'",
        ]
        for size in 1...bytes.count {
            let pieces = stride(from: 0, to: bytes.count, by: size).map {
                Array(bytes[$0..<min($0 + size, bytes.count)])
            }
            XCTAssertEqual(try operations(pieces), expected, "\(size)")
        }
    }
}
