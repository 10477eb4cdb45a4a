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
        MSG  a.b  22  _INBOX.x.1  0\r
        \r
        HMSG a 3 r 12 12\r
        NATS/1.0\r
        \r
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
    private static let operations = [
        "2.9.10 1048576", "ok", "ping", "1 a.b - - - hello", "22 a.b _INBOX.x.1 - - ", "3 a r - - ",
        "3 a - 100 b c\r\nx",
        "pong", "'No'",
    ]

    /// Every operation, as text.
    private func operations(_ bytes: [UInt8], size: Int, maximumPayload: Int = 1 << 20) throws -> [String] {
        var parser = NATSParser(try NATSServer("nats://host"), maximumPayload: maximumPayload)
        var operations: [String] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            var piece = ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])
            parser.append(&piece)
            while let operation = try parser.next() { operations.append(text(operation)) }
        }
        return operations
    }

    private func text(_ operation: NATSParser.Operation) -> String {
        switch operation {
        case .message(let message):
            let status = message.status.map { "\($0)" } ?? "-"
            return "\(message.line.subscription) \(message.subject) \(message.reply ?? "-") \(status) "
                + "\(message.header("A") ?? "-") \(String(buffer: message.payload))"
        case .error(let text): return String(decoding: text, as: UTF8.self)
        case .info(let info): return "\(info.version) \(info.maxPayload)"
        default: return "\(operation)"
        }
    }

    func testPiecesOfEverySizeGiveTheSameOperations() throws {
        let bytes = Array(Self.session.utf8)
        for size in 1...bytes.count {
            XCTAssertEqual(try operations(bytes, size: size), Self.operations, "\(size)")
        }
    }

    /// Quadratic work would take minutes here.
    func testALargeMessageMayComeInSmallPieces() throws {
        let payload = String(repeating: "x", count: 8 << 20)
        let bytes = Array("MSG a 1 \(payload.utf8.count)\r\n\(payload)\r\nPING\r\n".utf8)
        let operations = try operations(bytes, size: 256, maximumPayload: 8 << 20)
        XCTAssertEqual(operations, ["1 a - - - \(payload)", "ping"])
    }

    func testWhatIsNotNATSIsQuotedAndRefused() throws {
        let cases: [(sent: String, quoted: String)] = [
            ("HTTP/1.1 400 Bad Request\r\n", "\"HTTP/1.1 400 Bad Request\""), ("\n", "a line without CR"),
            ("CONNECT {\"pass\":\"secret\"}\r\n", "\"CONNECT\", which"), ("CONNECT secret\n", "\"CONNECT\", which"),
            ("\r\n", "an unknown operation"), ("PING\n", "\"PIN\""), ("ping\r\n", "\"ping\""),
            ("\u{1B}[2J\"\r\n", #""\x1b[2J\x22""#), ("INFO {}\r\n", "an unknown operation"), ("INFO\r\n", "\"INFO\""),
            ("MSG\r\n", "an invalid line"), ("MSG a 1\r\n", "an invalid line"), ("MSG a b 1\r\n", "an invalid line"),
            ("MSG a 1 b 2 3\r\n", "an invalid line"), ("MSG a 1 -1\r\n", "an invalid line"),
            ("MSG a 1 99999999999999999999\r\n", "an invalid line"), ("MSG a 1 b\r\n", "an invalid line"),
            ("MSGX a 1 1 1\r\n", "an invalid line"), ("MSG a\u{1} 1 1\r\n", "an invalid line"),
            ("HMSG a 1 5\r\n", "an invalid line"), ("HMSG a 1 5 4\r\n", "an invalid line"),
            ("HMSG a 1 b 1 2 3\r\n", "an invalid line"), ("HMSG a 1 b c\r\n", "an invalid line"),
            ("MSG a 1 1001\r\n", "too large a message"), ("HMSG a 1 1 1001\r\n", "too large a message"),
            ("MSG a 1 1\r\nabc\r\n", "a message of another length"),
            ("MSG a 1 1\r\na\n\r", "a message of another length"),
            (String(repeating: "x", count: 5000), "too long a line"),
            ("INFO " + String(repeating: "x", count: 70000), "too long a line"),
        ]
        for (sent, quoted) in cases {
            for size in [7, sent.utf8.count] {
                XCTAssertThrowsError(try operations(Array(sent.utf8), size: size, maximumPayload: 1000), sent) {
                    XCTAssertEqual(($0 as? NATSError)?.code, .lost)
                    XCTAssert("\($0)".contains(quoted), "\(sent): \($0)")
                    XCTAssert("\($0)".utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && "\($0)".count < 250, "\($0)")
                }
            }
        }
    }

    func testChangedBytesNeverTrap() throws {
        var random = SeededGenerator(seed: 46)
        for _ in 0..<2_000 {
            var bytes = Array(Self.session.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] =
                    random.once(in: 2)
                    ? bytes.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255, using: &random)
            }
            _ = try? operations(bytes, size: Int.random(in: 1...100, using: &random))
        }
    }
}
