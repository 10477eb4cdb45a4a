internal import Foundation
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import SharedTesting
internal import XCTest

@testable internal import NATSClient

/// Against the real server.
final class NATSConnectionTests: XCTestCase {
    func testSubscribersGetWhatOthersPublishInOrderAndNothingOfTheirOwn() async throws {
        let server = try NATSServerProcess()
        let (one, two) = (try await server.connect("one"), try await server.connect("two"))
        let received = Received()
        try one.subscribe("a.>") { received.append($0) }
        try await one.ping()
        try one.publish("own".utf8Span.span.bytes, to: "a.own")
        var many = ByteBuffer()
        for number in 1...1000 {
            try two.append("\(number)".utf8Span.span.bytes, to: "a.\(number)", reply: "r", into: &many)
        }
        try await two.write(many).get()
        try await one.ping()
        try await two.ping()
        try await one.ping()
        XCTAssertEqual(received.payloads, (1...1000).map(String.init))
        XCTAssertEqual(received.all.first?.subject, "a.1")
        XCTAssertEqual(received.all.first?.reply, "r")
        XCTAssertNotNil(one.roundTrip)
        XCTAssertTrue(one.isWritable)
        XCTAssertEqual(one.serverInfo.maxPayload, 1 << 20)
        await one.close()
        await two.close()
        let reason = try await one.closed.get()
        XCTAssertEqual(reason.code, .closed)
    }

    func testARequestGetsItsAnswer() async throws {
        let server = try NATSServerProcess()
        let (client, service) = (try await server.connect(), try await server.connect())
        try service.subscribe("double") { message in
            guard let reply = message.reply else { return }
            _ = try? service.publish((String(buffer: message.payload) + "!").utf8Span.span.bytes, to: reply)
        }
        try await service.ping()
        for number in 1...10 {
            let answer = try await client.request("double", ByteBuffer(string: "\(number)"))
            XCTAssertEqual(String(buffer: answer.payload), "\(number)!")
        }
        await assertThrows(.noResponders) { try await client.request("nobody") }
        try service.subscribe("silent") { _ in }
        try await service.ping()
        await assertThrows(.notAnswered) { try await client.request("silent", timeout: .milliseconds(10)) }
    }
}
