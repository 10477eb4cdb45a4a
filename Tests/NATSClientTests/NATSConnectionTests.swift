internal import Foundation
internal import NIOCore
internal import SharedTesting
internal import Synchronization
internal import XCTest

@testable internal import NATSClient

/// Against the real server.
final class NATSConnectionTests: XCTestCase {
    func testSubscribersGetWhatOthersPublishInOrderAndNothingOfTheirOwn() async throws {
        let server = try NATSServerProcess()
        let (one, two) = (try await server.connect(), try await server.connect())
        let received = Received()
        let batches = Awaited(0)
        let id = try one.subscribe("a.>") { received.append($0) }
        one.onReadComplete { batches.withLock { $0 = received.all.count } }
        try await one.ping()
        try one.publish("own".utf8Span.span.bytes, to: "a.own")
        var many = ByteBuffer()
        for number in 1...1000 {
            try two.append("\(number)".utf8Span.span.bytes, to: "a.\(number)", reply: "r", into: &many)
        }
        try await two.write(many).get()
        // The server has given all to the subscriber before it answers the first ping, and the second comes after that.
        try await two.ping()
        try await one.ping()
        XCTAssertEqual(received.payloads, (1...1000).map(String.init))
        XCTAssertEqual(received.all.first?.subject, "a.1")
        XCTAssertEqual(received.all.first?.reply, "r")
        XCTAssert(batches.wait { $0 == 1000 })
        XCTAssertNotNil(one.roundTrip)
        XCTAssertTrue(one.isWritable)
        XCTAssertEqual(one.serverInfo.maxPayload, 1 << 20)

        one.unsubscribe(id)
        try await one.ping()
        try two.publish("late".utf8Span.span.bytes, to: "a.late")
        try await two.ping()
        try await one.ping()
        XCTAssertEqual(received.all.count, 1000)
    }

    func testARequestGetsItsAnswerOrTheReasonWhyNot() async throws {
        let server = try NATSServerProcess()
        let (client, service) = (try await server.connect(), try await server.connect())
        try service.subscribe("shout") { [weak service] message in
            guard let reply = message.reply else { return }
            _ = try? service?.publish((String(buffer: message.payload) + "!").utf8Span.span.bytes, to: reply)
        }
        try service.subscribe("silent") { _ in }
        try await service.ping()
        for number in 1...10 {
            let answer = try await client.request("shout", ByteBuffer(string: "\(number)"))
            XCTAssertEqual(String(buffer: answer.payload), "\(number)!")
        }
        await assertThrows(.noResponders, "requests to \"nobody\"") { try await client.request("nobody") }
        await assertThrows(.notAnswered, "silent") { try await client.request("silent", timeout: .milliseconds(1)) }
    }

    func testWhatCannotBeSentIsRefusedAndTheConnectionGoesOn() async throws {
        let server = try NATSServerProcess()
        let client = try await server.connect()
        let large = [UInt8](repeating: 0, count: 1 << 20 + 1)
        await assertThrows(.notUsable, "max_payload") { try client.publish(large.span.bytes, to: "a") }
        await assertThrows(.notUsable, "max_payload") { try await client.request("a", ByteBuffer(bytes: large)) }
        await assertThrows(.notUsable, #""a\x0d\x0aPING""#) { try client.publish([1].span.bytes, to: "a\r\nPING") }
        await assertThrows(.notUsable, "\"\"") { try client.publish([1].span.bytes, to: "a", reply: "") }
        await assertThrows(.notUsable, "\"a b\"") { try client.subscribe("a b") { _ in } }
        await assertThrows(.notUsable, "\"a b\"") { try await client.request("a b") }
        try await client.ping()
    }

    func testACloseWaitsUntilTheServerHasAll() async throws {
        let server = try NATSServerProcess()
        let (sender, receiver) = (try await server.connect(), try await server.connect())
        let received = Received()
        try receiver.subscribe("a") { received.append($0) }
        try await receiver.ping()
        let payload = [UInt8](repeating: 1, count: 1000)
        for _ in 0..<10_000 { try sender.publish(payload.span.bytes, to: "a") }
        await sender.close()
        try await receiver.ping()
        XCTAssertEqual(received.all.count, 10_000)
        assertEqual(try await sender.closed.get(), .closed, "by this client")
        await assertThrows(.closed) { try await sender.ping() }
        await assertThrows(.closed) { try await sender.write(ByteBuffer(string: "PING\r\n")).get() }
    }

    func testOnlyWhoHasTheCredentialsIsAccepted() async throws {
        let user = try NATSServerProcess("--user", "me", "--pass", "right")
        _ = try await user.connect { $0.credentials = .user("me", password: "right") }
        await assertThrows(.rejected, "Authorization Violation") { try await user.connect() }
        await assertThrows(.rejected, "check the credentials") {
            try await user.connect { $0.credentials = .user("me", password: "wrong") }
        }
        let token = try NATSServerProcess("--auth", "right")
        _ = try await token.connect { $0.credentials = .token("right") }
        await assertThrows(.rejected, "Authorization Violation") {
            try await token.connect { $0.credentials = .token("wrong") }
        }
    }

    func testARefusedPermissionIsToldAndDoesNotEndTheConnection() async throws {
        let server = try NATSServerProcess(
            configuration: """
                authorization { users = [
                    { user: "me", password: "right", permissions: { subscribe: { deny: "secret" } } }
                ] }
                """)
        let client = try await server.connect { $0.credentials = .user("me", password: "right") }
        let refusals = Awaited([NATSError]())
        client.onRefusal { error in refusals.withLock { $0.append(error) } }
        try client.subscribe("secret") { _ in }
        try await client.ping()
        try await client.ping()
        XCTAssertEqual(refusals.withLock { $0.map { "\($0)".contains("secret") } }, [true])
    }

    func testAKilledServerEndsTheConnectionAndAllThatIsOutstanding() async throws {
        let server = try NATSServerProcess()
        let client = try await server.connect()
        try client.subscribe("silent") { _ in }
        let other = try await server.connect()
        let answer = Task { try await other.request("silent", timeout: TestTimeout.hang) }
        server.kill()
        await assertThrows(.lost) { try await answer.value }
        assertEqual(try await client.closed.get(), .lost, "Connect again")
        await assertThrows(.lost) { try await client.ping() }
        await assertThrows(.lost) { try await client.request("silent") }
        await assertThrows(.lost) { try await client.write(ByteBuffer(string: "PING\r\n")).get() }
        await assertThrows(.notConnected, "refused") { try await server.connect() }
        try server.start()
        try await server.connect().ping()
    }

    func testASilentServerIsFoundByItsUnansweredPings() async throws {
        let server = try NATSServerProcess()
        let client = try await server.connect { $0.pingInterval = .milliseconds(5) }
        // It has answered more pings than may be unanswered.
        for _ in 0..<5 { try await client.ping() }
        kill(server.process, SIGSTOP)
        assertEqual(try await client.closed.get(), .lost, "has not answered 2 pings")
        await assertThrows(.notConnected, "did not answer within 0.01 seconds") {
            try await server.connect { $0.connectTimeout = .milliseconds(10) }
        }
    }

    func testWhoeverIsNoNATSServerIsToldApart() async throws {
        let info = #"INFO {"server_id":"A","version":"2","max_payload":10}"# + "\r\n"
        let cases: [(says: String, ends: Bool, code: NATSError.Code, words: String)] = [
            ("HTTP/1.1 400 Bad Request\r\n", false, .lost, "HTTP/1.1 400"), ("", true, .lost, "Connect again"),
            (info, true, .lost, "Connect again"), ("INFO {}\r\n", false, .lost, "not understood"),
            (info + "-ERR 'No \u{1B}[2J'\r\n", false, .rejected, #"No \x1b[2J"#),
            (info + "PONG\r\n", false, .rejected, "does not offer TLS"),
            (String(repeating: "x", count: 100_000), false, .lost, "too long a line"),
        ]
        for (says, ends, code, words) in cases {
            let impostor = try await Impostor(says: says, ends: ends)
            await assertThrows(code, words) {
                try await NATSConnection.test(to: impostor.server) { $0.requiresTLS = words.contains("TLS") }
            }
        }
    }

    func testPlainTextBeforeTLSIsNotBelieved() async throws {
        let info = #"INFO {"server_id":"A","version":"2","max_payload":10,"tls_required":true}"#
        let impostor = try await Impostor(says: info + "\r\nPONG\r\n")
        await assertThrows(.notConnected, "before TLS") { try await NATSConnection.test(to: impostor.server) }
    }

    func testGarbageAndErrorsEndAnAcceptedConnection() async throws {
        let info = #"INFO {"server_id":"A","version":"2","max_payload":10}"# + "\r\nPONG\r\n"
        for (says, words) in [("garbage\r\n", "\"garbage\""), ("-ERR 'Stale Connection'\r\n", "Stale Connection")] {
            let impostor = try await Impostor(says: info + says)
            do {
                let client = try await NATSConnection.test(to: impostor.server)
                assertEqual(try await client.closed.get(), .lost, words)
                withExtendedLifetime(client) {}
            } catch {
                // It came together with the server's consent.
                assertEqual(error, .lost, words)
            }
        }
    }

    func testAConnectionThatNobodyKeepsIsClosed() async throws {
        let server = try NATSServerProcess()
        let closed = try await server.connect().closed
        assertEqual(try await closed.get(), .closed, "by this client")
    }

    func testAPingOfTheServerIsAnswered() async throws {
        let heard = Awaited("")
        let info = #"INFO {"server_id":"A","version":"2","max_payload":10}"# + "\r\nPONG\r\nPING\r\n"
        let impostor = try await Impostor(says: info) { text in heard.withLock { $0 += text } }
        let client = try await NATSConnection.test(to: impostor.server)
        XCTAssert(heard.wait { $0.contains("PONG\r\n") })
        let connect = heard.withLock { $0 }
        for word in [#""echo":false"#, #""no_responders":true"#, #""headers":true"#, #""name":"test""#] {
            XCTAssert(connect.contains(word), connect)
        }
        withExtendedLifetime(client) {}
    }
}
