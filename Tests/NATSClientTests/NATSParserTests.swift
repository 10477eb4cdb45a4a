internal import NIOCore
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

final class NATSParserTests: XCTestCase {
    /// Operations as text.
    private func operations(_ bytes: [UInt8], size: Int) throws -> [String] {
        let processor = NIOSingleStepByteToMessageProcessor(NATSParser(server: try NATSServer("nats://host")))
        var operations: [String] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            try processor.process(buffer: ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)])) {
                switch $0 {
                case .message(let message):
                    let parts = [
                        "\(message.subscription)", String(decoding: message.subject, as: UTF8.self),
                        message.reply.map { String(decoding: $0, as: UTF8.self) } ?? "-",
                        message.status.map { String($0) } ?? "-",
                        message.header("A") ?? "-", String(buffer: message.payload),
                    ]
                    operations.append(parts.joined(separator: " "))
                case .error(let text): operations.append(text)
                case .info(let info): operations.append("\(info.maxPayload)")
                case .ping, .pong, .ok: operations.append("\($0)")
                }
            }
        }
        return operations
    }

    /// What a server sends, and what it is; nil: it is refused.
    private static let rows: [(sent: String, expected: String?)] = [
        ("INFO {\"max_payload\":1048576,\"headers\":true} \r\n", "1048576"), ("+OK\r\n", "ok"), ("PING\r\n", "ping"),
        ("PONG\r\n", "pong"), ("-ERR 'No \u{1B}[2J'\r\n", #""No \u{1B}[2J""#),
        ("MSG a.b 1 5\r\nhello\r\n", "1 a.b - - - hello"), ("MSG  a.b  22  r.x  0\r\n\r\n", "22 a.b r.x - - "),
        ("MSG a 1 4\r\n\r\n\r\n\r\n", "1 a - - - \r\n\r\n"),
        ("HMSG a 3 r 12 12\r\nNATS/1.0\r\n\r\n\r\n", "3 a r - - "),
        ("HMSG a 3 27 31\r\nNATS/1.0 100 Idle\r\nA: b\r\n\r\nc\r\nx\r\n", "3 a - 100 b c\r\nx"),
        ("HTTP/1.1 400 Bad Request\r\n", nil), ("\n", nil), ("\r\n", nil), ("PING\n", nil), ("ping\r\n", nil),
        ("\u{1B}[2J\"\r\n", nil), ("INFO {}\r\n", nil), ("INFO\r\n", nil), ("MSG\r\n", nil), ("MSG a 1\r\n", nil),
        ("MSG a b 1\r\n", nil), ("MSG a 1 b 2 3\r\n", nil), ("MSG a 1 -1\r\n", nil), ("MSG a 1 b\r\n", nil),
        ("MSG a 1 99999999999999999999\r\n", nil), ("MSGX a 1 1 1\r\n", nil), ("HMSG a 1 5\r\n", nil),
        ("HMSG a 1 5 4\r\n", nil), ("HMSG a 1 b 1 2 3\r\n", nil), ("HMSG a 1 b c\r\n", nil),
        ("MSG a 1 \(NATSParser.longestMessage + 1)\r\n", nil), ("MSG a 1 1\r\nabc\r\n", nil),
        ("MSG a 1 1\r\na\n\r", nil),
        (String(repeating: "x", count: NATSParser.longestLine), nil),
        ("INFO {\"max_payload\":1\(String(repeating: " ", count: NATSParser.longestLine))}\r\n", nil),
    ]
    private static let session = rows.filter { $0.expected != nil }

    func testEachRowIsReadOrRefusedAndQuoted() throws {
        for (sent, expected) in Self.rows {
            for size in [7, sent.utf8.count] {
                if let expected {
                    XCTAssertEqual(try operations(Array(sent.utf8), size: size), [expected])
                } else {
                    XCTAssertThrowsError(try operations(Array(sent.utf8), size: size), sent) {
                        XCTAssert("\($0)".contains("not understood"), "\($0)")
                        XCTAssert("\($0)".utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && "\($0)".count < 250, "\($0)")
                    }
                }
            }
        }
    }

    func testPiecesOfEverySizeGiveTheSameOperations() throws {
        let bytes = Self.session.flatMap { Array($0.sent.utf8) }
        for size in 1...bytes.count {
            XCTAssertEqual(try operations(bytes, size: size), Self.session.compactMap(\.expected), "\(size)")
        }
    }

    /// Quadratic work would take minutes here.
    func testALargeMessageMayComeInSmallPieces() throws {
        let payload = String(repeating: "x", count: NATSParser.longestMessage - 100)
        let bytes = Array("MSG a 1 \(payload.utf8.count)\r\n\(payload)\r\nPING\r\n".utf8)
        XCTAssertEqual(try operations(bytes, size: 256), ["1 a - - - \(payload)", "ping"])
    }

    func testChangedBytesNeverTrap() throws {
        var random = SeededGenerator(seed: 46)
        let session = Self.session.flatMap { Array($0.sent.utf8) }
        for _ in 0..<2_000 {
            var bytes = session
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let other = random.once(in: 2) ? UInt8.random(in: 0...255, using: &random) : nil
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    other ?? session[Int.random(in: 0..<bytes.count, using: &random)]
            }
            _ = try? operations(bytes, size: Int.random(in: 1...100, using: &random))
        }
    }

    func testWhatAConsumerSendsIsReadFromSubjectsAndHeaders() throws {
        for (reply, expected) in [
            ("$JS.ACK.S.C.1.22.33.1700000000.44", [22, 33]), ("$JS.ACK.d.h.S.C.1.22.33.1700000000.44", [22, 33]),
            ("$JS.ACK.d.h.S.C.1.22.33.1700000000.44.x", [22, 33]), ("$JS.ACK.S.C.1.22.33.1700000000", nil),
            ("$JS.ACK.S.C.1.x.33.1700000000.44", nil), ("$JS.NAK.S.C.1.22.33.1700000000.44", nil),
            ("_INBOX.a.b.c.d.e.f.g.h", nil), ("$JS.ACK.a.b.c.d.1.2.3.4.5.6.7.8", nil),
            ("$JS.ACK.S.C.1.99999999999999999999.33.1700000000.44", nil),
        ] as [(String, [UInt64]?)] {
            var numbers: [UInt64]?
            if case .message(let stream, let consumer) = JetStreamDelivery(try message("MSG a 1 \(reply) 0\r\n\r\n")) {
                numbers = [stream, consumer]
            }
            XCTAssertEqual(numbers, expected, reply)
        }
        let idle = "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 7\r\nNats-Consumer-Stalled: fc\r\n\r\n"
        let heartbeat = try message("HMSG a 1 \(idle.utf8.count) \(idle.utf8.count)\r\n\(idle)\r\n")
        guard case .heartbeat(7, "fc") = JetStreamDelivery(heartbeat) else { return XCTFail("\(heartbeat)") }
    }

    func testAnAcknowledgementIsToldFromARefusal() throws {
        let refusal = #""error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"}"#
        for (json, words) in [
            (#"{"stream":"S", "seq":7}"#, nil), (#"{"stream":"S","seq":7,"duplicate":true}"#, nil),
            (#"{ "seq": 18446744073709551615, "stream": "S", "domain": "d" }"#, nil),
            ("{\(refusal),\"stream\":\"S\",\"seq\":0}", "maximum bytes exceeded"),
            ("{\"stream\":\"S\",\(refusal)}", "maximum bytes exceeded"), ("{}", "refused a: \"{}\""), ("", "refused a"),
            (#"{"stream":"S","seq":7,"#, "refused a"),
        ] as [(String, String?)] {
            let message = try message("MSG a 1 \(json.utf8.count)\r\n\(json)\r\n")
            var problem: String?
            do { try message.checkIsStored("a") } catch { problem = error.description }
            XCTAssertEqual(problem == nil, words == nil, json)
            XCTAssert(problem?.contains(words ?? "") ?? true, "\(problem ?? "")")
        }
    }

    private func message(_ text: String) throws -> NATSMessage {
        var bytes = ByteBuffer(string: text)
        let operation = try NATSParser(server: try NATSServer("nats://host")).decode(buffer: &bytes)
        guard case .message(let message) = operation else { throw NATSError("It is no message: \(text)") }
        return message
    }
}
