internal import Foundation
internal import NIOCore
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

final class NATSValueTests: XCTestCase {
    func testAddressesAreReadAsUsersWriteThem() throws {
        let cases = [
            ("nats://host", "nats://host:4222"), ("tls://host", "tls://host:4222"), ("nats://h:1", "nats://h:1"),
            ("nats://[::1]", "nats://[::1]:4222"), ("tls://[::1]:65535", "tls://[::1]:65535"),
        ]
        for (url, description) in cases { XCTAssertEqual(try NATSServer(url).description, description) }
        XCTAssertEqual(try NATSServer("nats://[::1]").host, "::1")
        let refused = [
            "", "host", "nats:", "nats://", "nats://:1", "nats://h:", "nats://h:0", "nats://h:65536", "nats://h:-1",
            "nats://h:x", "http://h", "nats://h/x", "nats://h h", "nats://[::1", "nats://[::1]x", "nats://h:1:2",
            "nats://ü",
        ]
        for url in refused {
            XCTAssertThrowsError(try NATSServer(url), url) { XCTAssert("\($0)".contains("nats://HOST:PORT"), "\($0)") }
        }
    }

    func testAPasswordInAnAddressIsRefusedAndNotRepeated() {
        XCTAssertThrowsError(try NATSServer("nats://user:secret@host")) {
            XCTAssert("\($0)".contains("--credentials") && !"\($0)".contains("secret"), "\($0)")
        }
    }

    func testCredentialsAreOneLineOfAFile() throws {
        let path = "/tmp/credentials-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func read(_ text: String) throws -> NATSCredentials {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            return try NATSCredentials(file: path)
        }
        XCTAssertEqual(try read("me:secret:x\n"), .user("me", password: "secret:x"))
        XCTAssertEqual(try read("\nsecret"), .token("secret"))
        XCTAssertFalse("\(try read("me:secret")) \(try read("secret"))".contains("secret"))
        let jwt = "-----BEGIN NATS USER JWT-----\nsecret\n------END NATS USER JWT------\n"
        for (text, words) in [(jwt, "not supported"), ("", "no single line"), ("secret\nsecret", "no single line")] {
            XCTAssertThrowsError(try read(text)) {
                XCTAssert("\($0)".contains(words) && !"\($0)".contains("secret"), "\($0)")
            }
        }
        XCTAssertThrowsError(try NATSCredentials(file: "/nowhere")) { XCTAssert("\($0)".contains("/nowhere"), "\($0)") }
    }

    func testTheWaitsGrowToALimitAndAreRandom() {
        var backoff = Backoff()
        var random = SeededGenerator(seed: 1)
        for step in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let wait = backoff.next(using: &random)
            XCTAssert(wait >= .milliseconds(step / 2) && wait <= .milliseconds(step), "\(wait) of \(step) ms")
        }
    }

    func testSubjectsHaveNoEmptyWordsAndNothingThatEndsALine() {
        for subject in ["a", "a.b", "a.*.>", "ü.$"] { XCTAssert(NATSConnection.isSubject(subject), subject) }
        for subject in ["", ".", "a.", ".a", "a..b", "a b", "a\r\nPING", "a\t", "a\u{7F}", "a\0"] {
            XCTAssertFalse(NATSConnection.isSubject(subject), subject)
        }
        XCTAssertNotEqual(NATSConnection.makeInbox(), NATSConnection.makeInbox())
    }

    func testTheReplySubjectOfAConsumersMessageSaysWhereItIsFrom() {
        let cases: [(String, [UInt64]?)] = [
            ("$JS.ACK.S.C.1.22.33.1700000000.44", [22, 33, 44]),
            ("$JS.ACK.domain.hash.S.C.1.22.33.1700000000.44", [22, 33, 44]),
            ("$JS.ACK.domain.hash.S.C.1.22.33.1700000000.44.random", [22, 33, 44]),
            ("$JS.ACK.S.C.1.22.33.1700000000", nil), ("$JS.ACK.S.C.1.x.33.1700000000.44", nil),
            ("$JS.ACK.S.C.1.22.33.1700000000.", nil), ("$JS.NAK.S.C.1.22.33.1700000000.44", nil),
            ("_INBOX.a.b.c.d.e.f.g.h", nil), ("", nil), ("$JS.ACK.a.b.c.d.1.2.3.4.5.6.7.8", nil),
            ("$JS.ACK.S.C.1.99999999999999999999.33.1700000000.44", nil),
        ]
        for (reply, expected) in cases {
            let delivery = JetStreamDelivery(reply: Array(reply.utf8))
            let numbers = delivery.map { [$0.streamSequence, $0.consumerSequence, $0.pending] }
            XCTAssertEqual(numbers, expected, reply)
        }
    }

    func testAcknowledgementsAreRead() throws {
        let cases: [(String, String)] = [
            (#"{"stream":"S","seq":7}"#, "7 false"), (#"{"stream":"S","seq":7,"duplicate":true}"#, "7 true"),
            (#"{ "seq": 18446744073709551615, "stream": "S", "domain": "d" }"#, "18446744073709551615 false"),
            (
                #"{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded"},"stream":"S","seq":0}"#,
                "10077"
            ),
            (#"{"stream":"S","seq":}"#, "nil"), (#"{"stream":"S","seq":-1}"#, "nil"), ("{}", "nil"), ("", "nil"),
            (#"{"stream":"S","seq":7,"#, "nil"), (#"{"stream":"S","seq":99999999999999999999}"#, "nil"),
        ]
        for (json, expected) in cases {
            var parser = NATSParser(try NATSServer("nats://host"), maximumPayload: 1000)
            var bytes = ByteBuffer(string: "MSG a 1 \(json.utf8.count)\r\n\(json)\r\n")
            parser.append(&bytes)
            guard case .message(let message) = try parser.next() else { return XCTFail(json) }
            do {
                let answer = try JetStreamAcknowledgement(message, subject: "a")
                XCTAssertEqual("\(answer.sequence) \(answer.isDuplicate)", expected, json)
            } catch {
                XCTAssertEqual("\(error.number.map { "\($0)" } ?? "nil")", expected, "\(error)")
            }
        }
    }
}
