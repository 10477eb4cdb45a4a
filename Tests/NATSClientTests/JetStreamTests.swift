internal import NIOCore
internal import SharedTesting
internal import Synchronization
internal import XCTest

@testable internal import NATSClient

final class JetStreamTests: XCTestCase {
    private var server: NATSServerProcess!
    private var client: NATSConnection!
    private var jetStream: JetStream { JetStream(client, timeout: TestTimeout.hang) }

    override func setUp() async throws {
        server = try NATSServerProcess("-js")
        client = try await server.connect()
    }

    override func tearDown() async throws {
        await client?.close()
        (client, server) = (nil, nil)
    }

    private func publish(_ payload: [UInt8], to subject: String) async throws -> JetStreamAcknowledgement {
        try JetStreamAcknowledgement(
            try await client.request(subject, ByteBuffer(bytes: payload), timeout: TestTimeout.hang), subject: subject)
    }

    func testAStreamStoresAndSaysWhy() async throws {
        let missing = try await jetStream.stream("S")
        XCTAssertNil(missing)
        var configuration = JetStream.Configuration(name: "S", subjects: ["s.>"])
        configuration.maxBytes = 100_000
        configuration.maxAge = 3_600_000_000_000
        for _ in 1...2 { _ = try await jetStream.createStream(configuration) }
        for number in 1...3 {
            let answer = try await publish([1], to: "s.\(number)")
            XCTAssertEqual(answer.sequence, UInt64(number))
        }
        let stream = try await jetStream.stream("S")
        XCTAssertEqual(stream?.state.lastSeq, 3)
        XCTAssertEqual(stream?.config.maxBytes, 100_000)
        await assertThrows(.noResponders) { try await publish([1], to: "unknown") }
        configuration.maxBytes = 1
        await assertThrows(.refused, "STREAM.CREATE.S") { try await jetStream.createStream(configuration) }
        await assertThrows(.refused, "STREAM.CREATE") {
            try await jetStream.createStream(JetStream.Configuration(name: "T", subjects: ["s.a"]))
        }
        await assertThrows(.refused) { try await jetStream.deleteConsumer("C", of: "S") }
    }

    /// 24 MB, of which the server sends 2 to 4 before it wants an answer.
    func testAConsumerDeliversAllInOrderIfFlowControlIsAnswered() async throws {
        _ = try await jetStream.createStream(JetStream.Configuration(name: "S", subjects: ["s"]))
        let count = 400
        for _ in 1..<count { try client.publish([UInt8](repeating: 1, count: 60_000).span.bytes, to: "s") }
        let last = try await publish([1], to: "s")
        XCTAssertEqual(last.sequence, UInt64(count))
        let (deliveries, controls) = (Awaited<[JetStreamDelivery]>([]), Awaited<[JetStreamControl]>([]))
        let inbox = NATSConnection.makeInbox()
        let reader = try await server.connect()
        try reader.subscribe(inbox) { [weak reader] message in
            if let delivery = JetStreamDelivery(message) { return deliveries.withLock { $0.append(delivery) } }
            guard let control = JetStreamControl(message) else { return XCTFail("\(message)") }
            controls.withLock { $0.append(control) }
            if case .flowControl(let subject) = control { _ = try? reader?.publish(RawSpan(), to: subject) }
        }
        let consumer = try await jetStream.createConsumer(
            of: "S", deliverTo: inbox, start: .sequence(11), heartbeat: .milliseconds(100))
        XCTAssertEqual(consumer.numPending, UInt64(count) - 10)
        XCTAssert(deliveries.wait { $0.count >= count - 10 })
        let all = deliveries.withLock { $0 }
        XCTAssertEqual(all.map(\.streamSequence), (11...UInt64(count)).map { $0 })
        XCTAssertEqual(all.map(\.consumerSequence), (1...UInt64(count - 10)).map { $0 })
        XCTAssertEqual(all.last?.pending, 0)
        XCTAssert(controls.withLock { $0.contains { if case .flowControl = $0 { true } else { false } } })
        let end = JetStreamControl.heartbeat(
            streamSequence: UInt64(count), consumerSequence: UInt64(count - 10), answerTo: nil)
        XCTAssert(controls.wait { $0.contains(end) })
        try await jetStream.deleteConsumer(consumer.name, of: "S")
    }

    func testAConsumerBeginsWhereItIsTold() async throws {
        _ = try await jetStream.createStream(JetStream.Configuration(name: "S", subjects: ["a", "b"]))
        for subject in ["a", "b", "a"] { _ = try await publish([1], to: subject) }
        let cases: [(JetStream.Start, String?, UInt64)] = [
            (.all, nil, 3), (.all, "a", 2), (.new, nil, 0), (.sequence(0), nil, 3), (.sequence(3), nil, 1),
            (.sequence(100), nil, 0),
        ]
        for (start, filter, pending) in cases {
            let consumer = try await jetStream.createConsumer(
                of: "S", deliverTo: NATSConnection.makeInbox(), start: start, filter: filter)
            XCTAssertEqual(consumer.numPending, pending, "\(start)")
        }
    }

    func testAStreamSurvivesTheServersKill() async throws {
        _ = try await jetStream.createStream(JetStream.Configuration(name: "S", subjects: ["s"]))
        _ = try await publish([1], to: "s")
        server.kill()
        try server.start()
        client = try await server.connect()
        let answer = try await publish([2], to: "s")
        XCTAssertEqual(answer.sequence, 2)
    }
}
