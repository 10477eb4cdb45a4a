internal import Foundation
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

final class NATSOptionsTests: XCTestCase {
    func testAddressesAreReadAsUsersWriteThem() throws {
        for (url, description, host) in [
            ("nats://host", "nats://host:4222", "host"), ("tls://host", "tls://host:4222", "host"),
            ("nats://h:1", "nats://h:1", "h"), ("tls://[::1]:65535", "tls://[::1]:65535", "::1"),
        ] {
            let server = try NATSServer(url)
            XCTAssertEqual([server.description, server.host], [description, host])
            XCTAssertEqual(server.requiresTLS, url.hasPrefix("tls"))
        }
        for url in [
            "", "host", "nats:", "nats://", "nats://:1", "nats://h:0", "nats://h:65536", "nats://h:-1", "nats://h:x",
            "http://h", "nats://h/x", "nats://h?x", "nats://h h", "nats://[::1", "nats://[::1]x", "nats://h:1:2",
            "nats://ü", "nats://user:secret@host",
        ] {
            XCTAssertThrowsError(try NATSServer(url), url) {
                XCTAssert("\($0)".contains("nats://HOST:PORT") && !"\($0)".contains("secret"), "\($0)")
            }
        }
    }

    func testCredentialsAreOneLineOfAFile() throws {
        let path = "/tmp/credentials-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        for (text, expected) in [
            ("me:secret:x\n", NATSCredentials(user: "me", pass: "secret:x")),
            ("\nsecret", NATSCredentials(authToken: "secret")), ("", nil), ("secret\nsecret", nil),
        ] {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            do throws(NATSError) {
                let credentials = try NATSCredentials(file: path)
                XCTAssertEqual(credentials, expected)
            } catch {
                XCTAssertNil(expected)
                XCTAssert("\(error)".contains(path) && !"\(error)".contains("secret"), "\(error)")
            }
        }
        XCTAssertThrowsError(try NATSCredentials(file: "/nowhere")) { XCTAssert("\($0)".contains("/nowhere"), "\($0)") }
    }

    func testTheWaitsGrowToALimitAndAreRandom() {
        var (backoff, random) = (Backoff(), SeededGenerator(seed: 1))
        for step in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000] {
            let wait = backoff.next(using: &random)
            XCTAssert(wait >= .milliseconds(step / 2) && wait <= .milliseconds(step), "\(wait) of \(step) ms")
        }
    }
}
